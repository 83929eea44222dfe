import { urlIn } from '../../../domain/kernel/address.js';
import type { UpstreamChannel, UpstreamRequest } from '../../contracts/protocol.js';
import type { TaskWire } from '../../contracts/task-wire.js';
import type { VideoFiles } from '../../contracts/video-files.js';
import { noContent } from '../../upstream/request-content.js';
import { pathSegment, pathSegments } from '../model-address.js';
import { baseOf, noThinking, written } from '../request-builder.js';
import {
  addressOfVideo,
  type GivesOut,
  operationAnswer,
  operationBody,
  operationPictures,
  operationRead,
} from './google-operation.js';

/* Videos of Google's public interface: operations, whose files are fetched with the key of the channel. */

const dayMs = 24 * 60 * 60_000;

const givesOut: GivesOut = (video) => addressOfVideo(video) !== null;

const keyHeader = ({ key }: UpstreamChannel): Record<string, string> => ({ 'x-goog-api-key': key.trim() });
const versionOf = ({ other }: UpstreamChannel): string => pathSegment(other.trim() || 'v1beta');

export function geminiVideos(provider: { readonly defaultBaseUrl: string }): {
  readonly tasks: TaskWire;
  readonly videos: VideoFiles;
} {
  const baseFor = ({ baseUrl }: UpstreamChannel): string =>
    (baseUrl.trim() || provider.defaultBaseUrl).replace(/\/+$/, '');
  const get = (url: string, headers: Record<string, string>): UpstreamRequest => ({
    ...{ method: 'GET', url, headers, content: noContent },
    ...{ model: '', ...noThinking },
  });
  return {
    tasks: {
      platform: 'video',
      submit: {
        pictures: operationPictures,
        request: (asked) => ({
          ...noThinking,
          method: 'POST',
          url: `${baseOf(asked.provider, asked.channel)}/${versionOf(asked.channel)}/models/${pathSegment(asked.model)}:predictLongRunning`,
          headers: { ...keyHeader(asked.channel), 'content-type': 'application/json', accept: 'application/json' },
          content: { kind: 'json', text: written(operationBody(asked, false)) },
          model: asked.model,
        }),
        answer: operationAnswer,
      },
      limitMs: dayMs,
      batch: 1,
      poll: (channel, [task]) =>
        get(`${baseFor(channel)}/${versionOf(channel)}/${pathSegments(task?.upstreamId ?? '')}`, keyHeader(channel)),
      read: (status, body, [task]) => operationRead(status, body, task?.upstreamId ?? '', givesOut),
    },
    videos: {
      source(channel, { urls, index }, variant) {
        const url = variant === 'video' ? urlIn(urls[index] ?? '') : null;
        if (url === null || !/^https?:$/.test(url.protocol)) return null;
        // The key goes nowhere else than where it belongs, whatever address upstream names.
        const isItsOwn = url.origin === new URL(baseFor(channel)).origin;
        return { request: get(url.href, isItsOwn ? keyHeader(channel) : {}) };
      },
    },
  };
}
