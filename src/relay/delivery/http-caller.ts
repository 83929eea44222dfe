import type { CallerDialect } from '../contracts/caller-dialect.js';
import type { RelayError } from '../contracts/errors.js';
import type { CallerConnection } from './caller-connection.js';
import { CallerPresence } from './caller-presence.js';
import { type Answering, refuse, refuseInStream } from './refusal.js';

const statusLine = /^HTTP/;

/** The caller behind an HTTP response. */
export class HttpCaller extends CallerPresence implements CallerConnection {
  constructor(
    private readonly answering: Answering,
    private readonly dialect: CallerDialect,
  ) {
    super();
    const { response } = answering;
    // A caller may have gone before anybody looked: while its body was being unpacked.
    if (response.destroyed) this.leave();
    response.once('close', () => {
      if (!response.writableFinished) this.leave();
    });
  }

  get requestId(): string {
    return this.answering.requestId;
  }

  get pending(): number {
    return this.gone ? 0 : this.answering.response.writableLength;
  }

  get ended(): boolean {
    return this.answering.response.writableEnded;
  }

  protected disconnect(): void {
    // An answer that still waits for its turn on the connection knows no socket of its own.
    this.answering.response.req.socket.destroy();
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

  begin(type: string, headers: readonly string[], length?: number, status = 200): void {
    const { response, head } = this.answering;
    if (length !== undefined) {
      response.writeHead(status, [...head, 'content-type', type, 'content-length', String(length), ...headers]);
      return;
    }
    response.writeHead(status, [...head, 'content-type', type, ...headers]);
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
}
