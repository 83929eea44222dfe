import type { Duplex } from 'node:stream';
import { CompactingMap } from '../../data-structures/compacting-map.js';
import { deserializeError, type SerializedError, serializeError } from '../../domain/errors/serialized-error.js';
import { Failure } from '../../domain/kernel/failure.js';

/*
 * One end of the pipe between two processes of a node: what this one asks of the other, and what it answers. JSON, a
 * message to a line. What is said within one turn of the event loop leaves in one write, so at a rate that matters most
 * messages cost no system call of their own.
 */

/** What a process can be asked. */
type Method = (...args: readonly unknown[]) => unknown;

type Message =
  /** `id` 0: no answer is wanted. */
  | readonly [kind: 'ask', id: number, name: string, args: readonly unknown[]]
  | readonly [kind: 'answer', id: number, result: unknown]
  | readonly [kind: 'refused', id: number, error: SerializedError];

interface Asked {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

export class Peer<Theirs> {
  /** Resolves once the pipe is closed, from whichever end. */
  readonly closed: Promise<void>;
  private readonly asked = new CompactingMap<number, Asked>();
  private questions = 0;
  private leaving = '';
  private arriving = '';
  private open = true;

  /**
   * `mine`: what the other process may ask, methods whose arguments and results are JSON. What one throws where nobody
   * waits for an answer goes to `lost`.
   */
  constructor(
    private readonly pipe: Duplex,
    private readonly mine: object,
    private readonly lost: (error: unknown) => void,
  ) {
    pipe.setEncoding('utf8');
    pipe.on('data', (text: string) => this.take(text));
    this.closed = new Promise((resolve) => {
      pipe.on('error', () => pipe.destroy());
      pipe.once('close', () => {
        this.end();
        resolve();
      });
      // The other process writes no more: there is none.
      pipe.once('end', () => pipe.destroy());
    });
  }

  /** Rejects with what the other process has thrown, or with `store-unavailable` when it is gone. */
  ask<Name extends keyof Theirs & string>(
    name: Name,
    ...args: Theirs[Name] extends (...args: infer Args) => unknown ? Args : never
  ): Promise<Theirs[Name] extends (...args: never[]) => infer Result ? Awaited<Result> : never> {
    if (!this.open) return Promise.reject(gone());
    const id = ++this.questions;
    return new Promise((resolve, reject) => {
      this.asked.set(id, { resolve, reject });
      this.say(['ask', id, name, args]);
    });
  }

  /** Nobody waits for it, and it is lost when the other process is gone. */
  send<Name extends keyof Theirs & string>(
    name: Name,
    ...args: Theirs[Name] extends (...args: infer Args) => unknown ? Args : never
  ): void {
    if (this.open) this.say(['ask', 0, name, args]);
  }

  close(): void {
    this.pipe.destroy();
  }

  private say(message: Message): void {
    if (this.leaving === '') setImmediate(() => this.flush());
    this.leaving += `${JSON.stringify(message)}\n`;
  }

  private flush(): void {
    const text = this.leaving;
    this.leaving = '';
    if (this.open) this.pipe.write(text);
  }

  private take(text: string): void {
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      const line = this.arriving + text.slice(from, end);
      this.arriving = '';
      from = end + 1;
      this.receive(JSON.parse(line) as Message);
    }
    this.arriving += text.slice(from);
  }

  private receive(message: Message): void {
    const [kind, id] = message;
    if (kind === 'ask') {
      void this.answer(id, message[2], message[3]);
      return;
    }
    const asked = this.asked.get(id);
    this.asked.delete(id);
    if (kind === 'answer') asked?.resolve(message[2] as never);
    else asked?.reject(deserializeError(message[2]));
  }

  private async answer(id: number, name: string, args: readonly unknown[]): Promise<void> {
    try {
      const method = (this.mine as Readonly<Record<string, Method>>)[name];
      if (method === undefined) throw new Error(`A process of this node was asked for ${name}, which it does not know`);
      const result = await method(...args);
      if (id !== 0 && this.open) this.say(['answer', id, result ?? null]);
    } catch (error) {
      if (id === 0) this.lost(error);
      else if (this.open) this.say(['refused', id, serializeError(error)]);
    }
  }

  private end(): void {
    this.open = false;
    for (const [id, { reject }] of this.asked) {
      this.asked.delete(id);
      reject(gone());
    }
  }
}

const gone = (): Failure => new Failure('store-unavailable', { reason: 'another process of this node is gone' });
