import { Instant } from '../../../domain/kernel/instant.js';
import type { Answer, AnswerInput, CallerRequest } from '../../contracts/protocol.js';
import { videoObject, writtenOrder } from '../../contracts/video-object.js';
import type { VideoRequest } from '../../contracts/video-request.js';
import { neutralAs } from '../request-builder.js';
import { taken } from '../task-answer.js';

/* A video that an upstream has begun to make, whatever its wire. */

/** Throws NotConvertible. */
export const videoRequestIn = (caller: CallerRequest): VideoRequest => neutralAs(caller, 'task') as VideoRequest;

/** By the call that ordered it: two upstreams may choose the same id, and names of operations tell where they run. */
const publicIdOf = (callId: string): string => `video_${callId}`;

interface Begun {
  readonly upstreamId: string;
  readonly status: 'queued' | 'in-progress';
  /** Percent. */
  readonly progress: number;
}

export function takenVideo({ caller, info, body: received }: AnswerInput, begun: Begun): Answer {
  const { model, prompt, seconds, size, n } = videoRequestIn(caller);
  const { action = '', parent = null } = caller.task ?? {};
  const order = { model, seconds, size, n, ...(parent !== null && { remixOf: parent.facts.publicId }) };
  const publicId = publicIdOf(info.callId);
  const video = videoObject({
    id: publicId,
    ...{ status: begun.status, progress: begun.progress, createdAt: Instant(info.createdAt * 1000), completedAt: null },
    ...{ order, prompt, error: null, remixedFrom: order.remixOf ?? null },
  });
  return taken(
    received,
    video,
    { ...begun, publicId, action, content: { prompt, result: writtenOrder(order), urls: [] } },
    true,
  );
}
