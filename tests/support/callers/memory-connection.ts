import type { RelayError } from '../../../src/relay/contracts/errors.js';
import type { CallerConnection } from '../../../src/relay/delivery/caller-connection.js';

/** A caller that is no HTTP response: what it is sent is remembered, and it takes all of it. */
export class MemoryConnection implements CallerConnection {
  readonly requestId = 'r1';
  gone = false;
  stalled = false;
  goneFor = 0;
  pending = 0;
  ended = false;
  /** How its answer began: media type, length, and header names and values in turn. */
  begun: { readonly type: string; readonly length: number | undefined; readonly headers: readonly string[] } | null =
    null;
  text = '';
  brokenOff = false;
  refusal: RelayError | null = null;
  private readonly listeners = new Set<() => void>();

  /** The caller goes. */
  disconnect(): void {
    this.gone = true;
    for (const listener of this.listeners) listener();
    this.listeners.clear();
  }

  giveUp(): void {
    this.stalled = true;
    this.disconnect();
  }

  whenGone(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async drained(): Promise<void> {}

  begin(type: string, headers: readonly string[], length?: number): void {
    this.begun = { type, length, headers };
  }

  flush(): void {}

  write(bytes: Buffer | string): boolean {
    this.text += String(bytes);
    return true;
  }

  end(bytes: Buffer | string = ''): void {
    this.text += String(bytes);
    this.ended = true;
  }

  breakOff(): void {
    this.brokenOff = true;
    this.ended = true;
  }

  refuse(error: RelayError): void {
    this.refusal = error;
    this.ended = true;
  }

  refuseInStream(error: RelayError): void {
    this.text += error.code;
    this.refuse(error);
  }
}
