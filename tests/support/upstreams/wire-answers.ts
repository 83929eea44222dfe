import type { JsonObject } from '../../../src/relay/json/json.js';

/* What upstreams of wires of their own answer when all is well, and how they refuse, as the journey over all of them needs it. */

export interface WireAnswers {
  readonly type: number;
  readonly key: string;
  /** Which header shows it, and how. Left out: as a bearer token. */
  readonly shownIn?: readonly [header: string, value: string];
  /** Where the key has the address at which tokens are granted: what a channel has as its key. Left out: `key`. */
  readonly keyAt?: (upstreamUrl: string) => string;
  readonly other?: string;
  readonly setting?: string;
  /** What of the key is shown upstream. Left out: all. */
  readonly shownKey?: string;
  /** Left out: one by its type. */
  readonly model?: string;
  /** Of the channel's base URL. Left out: none. */
  readonly basePath?: string;
  readonly path: string;
  readonly streamPath?: string;
  /** Half of an answer, with 1000 tokens read, 100 of them from a cache, and 50 written. */
  readonly whole: JsonObject;
  /** The same; the first say something, and the last that it is over. */
  readonly stream: readonly (string | Buffer)[];
  /** How many of them say so. Left out: one. */
  readonly endFrames?: number;
  readonly streamType?: string;
  readonly refusal: (message: string) => JsonObject;
  /** What an output token costs, where its name has a fixed ratio. Left out: 3, as the journey sets it. */
  readonly completion?: number;
  /** Input tokens that come from a cache, where the wire reports them. */
  readonly cached: number;
}

export const saidByAll = 'Half of an answer';

const sse = (event: JsonObject): string => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`;

const cohereUsage = {
  billed_units: { input_tokens: 900, output_tokens: 40 },
  tokens: { input_tokens: 1_000, output_tokens: 50 },
  cached_tokens: 100,
};

const cohere: WireAnswers = {
  type: 34,
  key: 'co-key-0123456789',
  path: '/v2/chat',
  whole: {
    id: 'c1',
    message: { role: 'assistant', content: [{ type: 'text', text: saidByAll }] },
    finish_reason: 'COMPLETE',
    usage: cohereUsage,
  },
  stream: [
    { type: 'message-start', id: 'c1', delta: { message: { role: 'assistant', content: [] } } },
    { type: 'content-delta', index: 0, delta: { message: { content: { text: 'Half of ' } } } },
    { type: 'content-delta', index: 0, delta: { message: { content: { text: 'an answer' } } } },
    { type: 'message-end', delta: { finish_reason: 'COMPLETE', usage: cohereUsage } },
  ].map(sse),
  refusal: (message) => ({ id: 'c1', message }),
  cached: 100,
};

const difyUsage = { prompt_tokens: 1_000, completion_tokens: 50, total_tokens: 1_050, total_price: '0.001' };
const difyIds = { task_id: 't-1', message_id: 'm-1', conversation_id: 'c-1' };

const dify: WireAnswers = {
  type: 37,
  key: 'app-key-0123456789',
  path: '/v1/chat-messages',
  whole: { event: 'message', answer: saidByAll, metadata: { usage: difyUsage }, ...difyIds },
  stream: [
    { event: 'workflow_started', data: {}, ...difyIds },
    { event: 'message', answer: 'Half of ', ...difyIds },
    { event: 'message', answer: 'an answer', ...difyIds },
    { event: 'message_end', metadata: { usage: difyUsage }, ...difyIds },
  ].map((event) => `data: ${JSON.stringify(event)}\n\n`),
  refusal: (message) => ({ code: 'invalid_param', message, status: 400 }),
  cached: 0,
};

const ollamaLine = (content: string, rest: JsonObject = { done: false }): string =>
  `${JSON.stringify({ model: 'm', created_at: '2026-11-01T00:00:00Z', message: { role: 'assistant', content }, ...rest })}\n`;
const ollamaEnd = { done: true, done_reason: 'stop', prompt_eval_count: 1_000, eval_count: 50 };

const ollama: WireAnswers = {
  type: 4,
  key: 'ollama-key-0123456789',
  path: '/api/chat',
  whole: JSON.parse(ollamaLine(saidByAll, ollamaEnd)),
  stream: [ollamaLine('Half of '), ollamaLine('an answer'), ollamaLine('', ollamaEnd)],
  streamType: 'application/x-ndjson',
  refusal: (message) => ({ error: message }),
  cached: 0,
};

/** Those of a vendor with more than one interface are beside this. */
export const wireAnswers: readonly WireAnswers[] = [ollama, cohere, dify];
