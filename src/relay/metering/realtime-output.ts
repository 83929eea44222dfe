import { SeenText } from '../text/seen-text.js';

/** What one response of a realtime session has put out, as far as it has passed here. */
export class RealtimeOutput {
  readonly said = new SeenText();
  /** Characters of sound, in base64. */
  spoken = 0;

  /** Grows with whatever reaches the caller. */
  get length(): number {
    return this.said.length + this.spoken;
  }
}
