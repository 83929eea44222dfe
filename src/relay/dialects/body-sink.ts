import { RelayError } from '../contracts/errors.js';

/** What becomes of a body's bytes while they come. */
export interface BodySink {
  /** What is wrong with the body so far; null: nothing. The piece must not be reused. */
  take(piece: Buffer): RelayError | null;
}

export const invalidBody = (message: string, param = ''): RelayError =>
  new RelayError(400, 'invalid_request', `invalid request: ${message}`, { param });
