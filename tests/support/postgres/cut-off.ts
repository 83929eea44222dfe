import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { PostgresConnection } from '../../../src/adapters/database/postgres.js';

/** A stretch of network between a client and Postgres that a test can cut at a chosen moment. */
export class CutOff {
  private readonly pairs = new Set<readonly [Socket, Socket]>();
  private listening: Server | null = null;
  private port = 0;
  private readonly forgotten = new WeakSet<Socket>();
  private silencing: string | null = null;
  private losing: { readonly text: string; readonly lost: () => void } | null = null;

  private constructor(private readonly target: { host: string; port: number; user: string; database: string }) {}

  /** Between us and a Postgres on a unix socket. */
  static async before(connection: PostgresConnection): Promise<CutOff> {
    if ('url' in connection || connection.port === undefined) throw new Error('Not the connection of a unix socket');
    const between = new CutOff({ ...connection, port: connection.port });
    await between.restore();
    return between;
  }

  /** The same database, by way of this stretch. */
  get connection(): PostgresConnection {
    const { user, database } = this.target;
    return { host: '127.0.0.1', port: this.port, user, database };
  }

  /** As an operator writes it. */
  get url(): string {
    const { user, database } = this.target;
    return `postgres://${user}@127.0.0.1:${this.port}/${database}`;
  }

  /**
   * The next answer to a message that holds this text is thrown away, and its connection cut: the server has done what
   * it was answered, and nobody knows. Resolves when that has happened.
   */
  loseAnswerTo(text: string): Promise<void> {
    return new Promise((lost) => {
      this.losing = { text, lost };
    });
  }

  /** As a network that forgets connections: Postgres sees them end, a client only when it sends something. */
  forget(): void {
    for (const [, far] of this.pairs) {
      this.forgotten.add(far);
      far.destroy();
    }
  }

  /**
   * From now on a connection hears nothing more once it has sent this text, and gets no error: as when the server, or
   * the way to it, is gone without a word. null: new connections are heard again.
   */
  silenceAfter(text: string | null): void {
    this.silencing = text;
  }

  /** Cuts all connections and refuses new ones. */
  async cut(): Promise<void> {
    const server = this.listening;
    this.listening = null;
    for (const [near, far] of this.pairs) {
      near.destroy();
      far.destroy();
    }
    if (server !== null) await new Promise((closed) => server.close(closed));
  }

  async restore(): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (near) => this.join(near));
    await new Promise<void>((listening) => server.listen(this.port, '127.0.0.1', listening));
    this.port = (server.address() as AddressInfo).port;
    this.listening = server;
  }

  private join(near: Socket): void {
    const far = connect({ path: join(this.target.host, `.s.PGSQL.${this.target.port}`), allowHalfOpen: true });
    const pair = [near, far] as const;
    this.pairs.add(pair);
    let lose: (() => void) | null = null;
    let silent = false;
    near.on('data', (chunk) => {
      if (this.losing !== null && chunk.includes(this.losing.text)) {
        lose = this.losing.lost;
        this.losing = null;
      }
      silent ||= this.silencing !== null && chunk.includes(this.silencing);
      if (this.forgotten.has(far)) near.destroy();
      else if (!silent) far.write(chunk);
    });
    far.on('data', (chunk) => {
      if (silent) return;
      if (lose === null) near.write(chunk);
      else {
        near.destroy();
        far.destroy();
        lose();
      }
    });
    for (const [one, other] of [pair, [far, near] as const]) {
      one.on('error', () => undefined);
      // As on a real way, who has said goodbye hears of the end when the other side has hung up, not before.
      one.on('end', () => {
        if (!this.forgotten.has(one)) other.end();
      });
      one.on('close', () => {
        if (this.forgotten.has(one)) return;
        other.destroy();
        this.pairs.delete(pair);
      });
    }
  }
}
