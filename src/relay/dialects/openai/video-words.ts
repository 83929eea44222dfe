import type { TaskView } from '../../../application/ports/task-ports.js';
import type { TaskFailureReason } from '../../../domain/task/task.js';
import { shownStatus, type VideoOrder, videoObject } from '../../contracts/video-object.js';
import { videoSize } from '../../contracts/video-request.js';
import type { JsonObject } from '../../json/json.js';
import { failureWords } from '../task-words.js';

/* Videos as their callers ask how far they are: in OpenAI's words, and in those of the one-api family. */

const codes: Readonly<Record<TaskFailureReason, string>> = {
  upstream: 'video_generation_failed',
  'timed-out': 'video_generation_timed_out',
  'channel-gone': 'upstream_gone',
  rejected: 'moderation_blocked',
  cancelled: 'video_generation_cancelled',
};

/** As HTTP numbers such failures. */
const numbers: Readonly<Record<TaskFailureReason, number>> = {
  upstream: 502,
  'timed-out': 504,
  'channel-gone': 503,
  rejected: 400,
  cancelled: 499,
};

export function shownVideo(task: TaskView, order: VideoOrder): JsonObject {
  const { facts, status, progress, submittedAt, finishedAt, content, reason } = task;
  return videoObject({
    ...{ id: facts.publicId, status, progress, createdAt: submittedAt, order },
    completedAt: status === 'succeeded' ? finishedAt : null,
    prompt: content?.prompt ?? null,
    error: reason === null ? null : { code: codes[reason], message: failureWords(task) },
    remixedFrom: order.remixOf ?? null,
  });
}

/** `site`: the operator's, as far as host and port; empty: not known. */
export function shownGeneration(task: TaskView, order: VideoOrder, site: string): JsonObject {
  const { facts, status, reason } = task;
  const shown = { task_id: facts.publicId, status: shownStatus(status) };
  if (reason !== null) return { ...shown, error: { code: numbers[reason], message: failureWords(task) } };
  if (status !== 'succeeded') return shown;
  const size = videoSize(order.size);
  return {
    ...shown,
    url: `${site}/v1/videos/${facts.publicId}/content`,
    format: 'mp4',
    metadata: { duration: order.seconds, ...size },
  };
}
