import type { Position } from '../events/events.js';
import { UnreadableEvent } from '../events/upcast.js';
import { Failure, type FailureCode } from '../kernel/failure.js';

/* Errors on their way from one thread or process of a node to another. */

/** An error that keeps its type on the way: who gets it chooses by that. */
export type SerializedError =
  | { readonly type: 'failure'; readonly code: FailureCode; readonly details: Failure['details'] }
  | {
      readonly type: 'unreadable';
      readonly event: string;
      readonly reason: string;
      readonly position: Position | null;
    }
  | { readonly type: 'other'; readonly text: string; readonly code: string | null };

export function serializeError(error: unknown): SerializedError {
  if (error instanceof Failure) return { type: 'failure', code: error.code, details: error.details };
  if (error instanceof UnreadableEvent)
    return { type: 'unreadable', event: error.type, reason: error.reason, position: error.position };
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
  return { type: 'other', text: error instanceof Error ? error.message : String(error), code };
}

export function deserializeError(serialized: SerializedError): Error {
  if (serialized.type === 'failure') return new Failure(serialized.code, serialized.details);
  if (serialized.type === 'unreadable')
    return new UnreadableEvent(serialized.event, serialized.reason, serialized.position);
  return Object.assign(new Error(serialized.text), serialized.code === null ? {} : { code: serialized.code });
}
