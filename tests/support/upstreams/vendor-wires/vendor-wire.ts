import type { ServerResponse } from 'node:http';
import type { UpstreamCall } from '../upstream.js';

/* A vendor's own interface on this machine, as far as a test of its wire needs it. */

export interface Scripted {
  readonly status: number;
  readonly text: string;
}

export interface VendorWire {
  readonly type: number;
  readonly name: string;
  readonly mode: 'chat' | 'embeddings' | 'transcription';
  /** That is to be heard. Left out: nothing is. */
  readonly recording?: Buffer;
  readonly model: string;
  readonly key: string;
  readonly other?: string;
  /** Texts of the key that nobody may be shown. */
  readonly secrets: readonly string[];
  /** Answers what is no call, such as a question for a token. Left out: there is nothing of the kind. */
  readonly side?: (call: UpstreamCall, response: ServerResponse) => boolean;
  /** What is wrong with a call that is shown; null: nothing. */
  readonly fault: (call: UpstreamCall, stream: boolean) => string | null;
  /** 20 tokens in and 10 out, for vectors 20 in, for recordings 6 seconds, where `counts`. */
  readonly whole: string;
  /** The same, event by event; null: the mode has no streams. */
  readonly events: readonly string[] | null;
  /** Usage is reported. Otherwise it is counted by the gateway. */
  readonly counts: boolean;
  /** A wrong key, a rate limit and a fault inside, as the vendor reports them. */
  readonly refusals: Readonly<Record<401 | 429 | 500, Scripted>>;
}

/** Events whose data is JSON. */
export const eventsOf = (...payloads: readonly object[]): string[] =>
  payloads.map((payload) => `data: ${JSON.stringify(payload)}\n\n`);

/** Delivered with a success status. */
export const dressed = (payload: object): Scripted => ({ status: 200, text: JSON.stringify(payload) });
