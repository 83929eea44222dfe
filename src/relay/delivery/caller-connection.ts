import type { RelayError } from '../contracts/errors.js';
import type { TwoWayCaller } from '../contracts/two-way.js';

/**
 * The caller's side of a call: what is written to it, whether it takes that, and whether it is still there. An HTTP
 * response is one kind. No stage of a call knows which kind it has.
 */
export interface CallerConnection {
  readonly requestId: string;
  /** For a session that messages go over both ways. Left out: it gets an answer and nothing else. */
  readonly twoWay?: TwoWayCaller;
  /** The caller has left, or was given up. */
  readonly gone: boolean;
  /** It is gone because it took nothing any more. */
  readonly stalled: boolean;
  /** Milliseconds since it went; 0 while it is there. */
  readonly goneFor: number;
  /** Bytes written that the caller has not taken yet; 0 for one that has gone. */
  readonly pending: number;
  /** Nothing more can be written. */
  readonly ended: boolean;
  /** Treats a caller as gone that takes nothing any more. */
  giveUp(): void;
  /** Calls once when the caller goes; the result takes the listener back. Never called when it has gone already. */
  whenGone(listener: () => void): () => void;
  /** Resolves when what was written has been taken, or the caller has gone. */
  drained(): Promise<void>;
  /**
   * Begins an answer of this media type. `headers`: names and values in turn, beside those that all answers have.
   * `length`: in bytes; left out: nobody knows yet, and it may be sent for long.
   */
  begin(type: string, headers: readonly string[], length?: number): void;
  /** Sends what was begun though nothing of it has been written. */
  flush(): void;
  /** False: the caller is to drain before more is written. */
  write(bytes: Buffer | string): boolean;
  end(bytes?: Buffer | string): void;
  /** Ends the answer so that the caller can see that it is not whole. */
  breakOff(): void;
  /** A failure as the whole answer; an answer that has begun can only end. */
  refuse(error: RelayError): void;
  /** A failure of a stream that has begun, and of which nothing was written. */
  refuseInStream(error: RelayError): void;
}
