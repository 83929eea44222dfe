import type { Position } from '../../domain/events.js';
import { Failure, type FailureCode } from '../../domain/failure.js';
import { UnreadableEvent } from '../../domain/upcast.js';
import type { News } from './news.js';
import type { ReadModelState } from './runner.js';

/* What a runner and those who wait for it say to each other when they live in different threads. */

export type ToRunner =
  | ({ readonly kind: 'news' } & News)
  | {
      readonly kind: 'wait';
      readonly id: number;
      readonly position: Position;
      readonly timeoutMs: number;
      /** null: all of them. */
      readonly names: readonly string[] | null;
      /** As `passed` waits: also for one that is stopped. */
      readonly hopeful: boolean;
    }
  | { readonly kind: 'stop' };

export type FromRunner =
  | { readonly kind: 'states'; readonly states: readonly ReadModelState[] }
  /** Of the wait of that id. What was reached has been told in `states` before. */
  | { readonly kind: 'answer'; readonly id: number; readonly reached: boolean }
  /** It has come to where the log ended when it started, or will not. */
  | { readonly kind: 'caught-up'; readonly error: ToldError | null }
  /** It could not start. */
  | { readonly kind: 'failed'; readonly error: ToldError };

/** The end of a channel between two threads: a MessagePort, or the Worker itself. */
export interface Channel<Out, In> {
  postMessage(message: Out): void;
  on(event: 'message', listener: (message: In) => void): unknown;
}

/** An error that keeps its type on the way: who gets it chooses by that. */
type ToldError =
  | { readonly type: 'failure'; readonly code: FailureCode; readonly details: Failure['details'] }
  | {
      readonly type: 'unreadable';
      readonly event: string;
      readonly reason: string;
      readonly position: Position | null;
    }
  | { readonly type: 'other'; readonly text: string; readonly code: string | null };

export function tellError(error: unknown): ToldError {
  if (error instanceof Failure) return { type: 'failure', code: error.code, details: error.details };
  if (error instanceof UnreadableEvent)
    return { type: 'unreadable', event: error.type, reason: error.reason, position: error.position };
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
  return { type: 'other', text: error instanceof Error ? error.message : String(error), code };
}

export function toldError(told: ToldError): Error {
  if (told.type === 'failure') return new Failure(told.code, told.details);
  if (told.type === 'unreadable') return new UnreadableEvent(told.event, told.reason, told.position);
  return Object.assign(new Error(told.text), told.code === null ? {} : { code: told.code });
}
