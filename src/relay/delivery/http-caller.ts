import type { CallerDialect } from '../contracts/caller-dialect.js';
import type { RelayError } from '../contracts/errors.js';
import type { CallerConnection } from './caller-connection.js';
import { type Answering, refuse, refuseInStream } from './refusal.js';

const statusLine = /^HTTP/;

/**
 * The caller behind an HTTP response. Whether it is there is what an AbortSignal would show, at a tenth of its cost:
 * there is one for every call, and hardly ever a listener.
 */
export class HttpCaller implements CallerConnection {
  private listeners: Set<() => void> | null = null;
  private left: boolean;
  private hasStalled = false;
  private leftAt: number | null = null;

  constructor(
    private readonly answering: Answering,
    private readonly dialect: CallerDialect,
  ) {
    const { response } = answering;
    // A caller may have gone before anybody looked: while its body was being unpacked. That is not reported twice.
    this.left = response.destroyed;
    if (this.left) this.leftAt = performance.now();
    response.once('close', () => {
      if (!response.writableFinished && !this.left) this.leave();
    });
  }

  get requestId(): string {
    return this.answering.requestId;
  }

  get gone(): boolean {
    return this.left;
  }

  get stalled(): boolean {
    return this.hasStalled;
  }

  get goneFor(): number {
    return this.leftAt === null ? 0 : Math.round(performance.now() - this.leftAt);
  }

  get pending(): number {
    return this.left ? 0 : this.answering.response.writableLength;
  }

  get ended(): boolean {
    return this.answering.response.writableEnded;
  }

  giveUp(): void {
    if (this.left) return;
    this.hasStalled = true;
    this.leave();
    // An answer that still waits for its turn on the connection knows no socket of its own.
    this.answering.response.req.socket.destroy();
  }

  whenGone(listener: () => void): () => void {
    this.listeners ??= new Set();
    this.listeners.add(listener);
    return () => this.listeners?.delete(listener);
  }

  drained(): Promise<void> {
    const { response } = this.answering;
    return new Promise<void>((resolve) => {
      const done = () => {
        response.off('drain', done);
        forget();
        resolve();
      };
      const forget = this.whenGone(done);
      response.once('drain', done);
    });
  }

  begin(type: string, headers: readonly string[], length?: number): void {
    const { response, head } = this.answering;
    if (length !== undefined) {
      response.writeHead(200, [...head, 'content-type', type, 'content-length', String(length), ...headers]);
      return;
    }
    response.writeHead(200, [...head, 'content-type', type, ...headers]);
    // Node keeps the head until the answer has ended, as some forty texts that refer to each other. Searching makes it one.
    if ('_header' in response) statusLine.test(String(response._header));
  }

  flush(): void {
    this.answering.response.flushHeaders();
  }

  write(bytes: Buffer | string): boolean {
    return this.answering.response.write(bytes);
  }

  end(bytes?: Buffer | string): void {
    this.answering.response.end(bytes);
  }

  breakOff(): void {
    this.answering.response.destroy();
  }

  refuse(error: RelayError): void {
    refuse(this.answering, error, this.dialect);
  }

  refuseInStream(error: RelayError): void {
    refuseInStream(this.answering, error, this.dialect);
  }

  private leave(): void {
    this.left = true;
    this.leftAt = performance.now();
    for (const listener of this.listeners ?? []) listener();
    this.listeners = null;
  }
}
