import type { SerializedError } from '../../domain/errors/serialized-error.js';
import type { Position } from '../../domain/events/events.js';
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
  /** Of the wait of that id. What was reached was sent in `states` before. */
  | { readonly kind: 'answer'; readonly id: number; readonly reached: boolean }
  /** It has come to where the log ended when it started, or will not. */
  | { readonly kind: 'caught-up'; readonly error: SerializedError | null }
  /** It could not start. */
  | { readonly kind: 'failed'; readonly error: SerializedError };

/** The end of a channel between two threads: a MessagePort, or the Worker itself. */
export interface RunnerChannel<Out, In> {
  postMessage(message: Out): void;
  on(event: 'message', listener: (message: In) => void): unknown;
}
