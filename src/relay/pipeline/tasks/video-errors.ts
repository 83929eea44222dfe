import { isKeptId } from '../../../domain/call/kept-object.js';
import { RelayError } from '../../contracts/errors.js';
import type { VideoVariant } from '../../contracts/video-files.js';

/** In the same words whether it never was, was deleted, or is another user's. */
export const videoNotFound = (id: string): RelayError =>
  new RelayError(404, 'video_not_found', `Video with id '${isKeptId(id) ? id : ''}' not found.`, {
    type: 'invalid_request_error',
    param: null,
  });

export const noSuchFile = (variant: VideoVariant): RelayError =>
  new RelayError(404, 'video_file_not_found', `the video has no ${variant} here, or not any more`, {
    type: 'invalid_request_error',
    param: null,
  });
