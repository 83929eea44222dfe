import { type Instant, unixSeconds } from '../../domain/kernel/instant.js';
import type { TaskStatus } from '../../domain/task/task.js';
import { isObject, type JsonObject, parseJson, textIn } from '../json/json.js';

/* A video as callers see it: OpenAI's object of that name, with the ids and the model of the gateway. */

/** What was ordered, as it stands with the content of its task. */
export interface VideoOrder {
  readonly model: string;
  readonly seconds: number;
  readonly size: string;
  readonly n: number;
  /** The video that it is made of. Left out: of none. */
  readonly remixOf?: string;
}

/** With a task, from its beginning. */
export const writtenOrder = ({ model, seconds, size, n, remixOf }: VideoOrder): string =>
  JSON.stringify({ model, seconds, size, n, ...(remixOf !== undefined && { remixOf }) });

/** null: it is not kept any more. */
export function orderIn(result: string | undefined): VideoOrder | null {
  const order = result === undefined ? null : parseJson(result);
  if (!isObject(order)) return null;
  const { model, seconds, size, n, remixOf } = order;
  return typeof model === 'string' && typeof seconds === 'number' && typeof size === 'string' && typeof n === 'number'
    ? { model, seconds, size, n, ...(typeof remixOf === 'string' && { remixOf }) }
    : null;
}

type ShownStatus = 'queued' | 'in_progress' | 'completed' | 'failed';

const shownStatuses: Readonly<Record<TaskStatus, ShownStatus>> = {
  'not-started': 'queued',
  submitted: 'queued',
  queued: 'queued',
  unknown: 'queued',
  modal: 'in_progress',
  'in-progress': 'in_progress',
  succeeded: 'completed',
  failed: 'failed',
};

export const shownStatus = (status: TaskStatus): ShownStatus => shownStatuses[status];

interface VideoState {
  readonly id: string;
  readonly status: TaskStatus;
  readonly progress: number;
  readonly createdAt: Instant;
  readonly completedAt: Instant | null;
  readonly order: VideoOrder;
  readonly prompt: string | null;
  /** null: it has not failed. */
  readonly error: { readonly code: string; readonly message: string } | null;
  /** The video that it was made of; null: of none. */
  readonly remixedFrom: string | null;
}

export const videoObject = (video: VideoState): JsonObject => ({
  id: video.id,
  object: 'video',
  created_at: unixSeconds(video.createdAt),
  status: shownStatus(video.status),
  progress: video.progress,
  completed_at: video.completedAt === null ? null : unixSeconds(video.completedAt),
  expires_at: null,
  error: video.error === null ? null : { ...video.error },
  model: video.order.model,
  prompt: textIn(video.prompt),
  seconds: String(video.order.seconds),
  size: video.order.size,
  remixed_from_video_id: video.remixedFrom,
});
