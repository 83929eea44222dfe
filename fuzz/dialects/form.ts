import { gunzipSync } from 'node:zlib';
import type { Answer } from '../judge.js';
import type { FuzzRequest } from '../request.js';
import { modelOfWire, type Wire } from './requests-as-meant.js';

/* Whether an answer has the form that its caller's dialect gives it, whatever its upstream said. */

const dialectOf = (path: string): Wire =>
  path.startsWith('/v1/messages') ? 'anthropic' : /^\/v1(beta)?\/models\/[^/]+:/.test(path) ? 'gemini' : 'openai';

type Members = Readonly<Record<string, unknown>>;
const members = (value: unknown): Members => (typeof value === 'object' && value !== null ? (value as Members) : {});

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const texts = (value: Members, ...names: readonly string[]): boolean =>
  names.every((name) => typeof value[name] === 'string');

function isError(dialect: Wire, value: unknown): boolean {
  const error = members(members(value).error);
  if (dialect === 'openai') return texts(error, 'message', 'type');
  if (dialect === 'anthropic') return members(value).type === 'error' && texts(error, 'message', 'type');
  return texts(error, 'message', 'status') && typeof error.code === 'number';
}

const countNames = /_tokens$|TokenCount$/;
/** Told usage is what is charged: counts, none of them negative. */
function oddCount(value: unknown): string | null {
  for (const [name, count] of Object.entries(members(value))) {
    if (countNames.test(name) && count !== null && !(Number.isSafeInteger(count) && Number(count) >= 0))
      return `${name} is ${JSON.stringify(count)}`;
    const inner = typeof count === 'object' ? oddCount(count) : null;
    if (inner !== null) return inner;
  }
  return null;
}

const usageIn = (value: unknown): unknown => {
  const { usage, usageMetadata, message } = members(value);
  return usage ?? usageMetadata ?? members(message).usage;
};

interface Event {
  readonly name: string | null;
  readonly data: string;
}

const eventsIn = (text: string): Event[] =>
  text
    .split(/\r?\n\r?\n/)
    .map((event) => ({
      name: /^event: (.*)$/m.exec(event)?.[1] ?? null,
      data: [...event.matchAll(/^data: ?(.*)$/gm)].map(([, data]) => data).join('\n'),
    }))
    .filter(({ data }) => data !== '');

/** One block at a time, each begun once and ended once. */
function blocksFault(events: readonly Members[]): string | null {
  let open: unknown = null;
  for (const { type, index } of events) {
    if (type === 'content_block_start') {
      if (open !== null) return 'a block begins within another';
      open = index;
    } else if (type === 'content_block_delta' && open !== index) return 'a delta belongs to no open block';
    else if (type === 'content_block_stop') {
      if (open !== index) return 'a block ends that is not open';
      open = null;
    }
  }
  return open === null || events.at(-1)?.type === 'error' ? null : 'a block never ends';
}

function streamFault(dialect: Wire, body: string, crossed: boolean): string | null {
  const events = eventsIn(body);
  const last = events.at(-1);
  if (last === undefined) return 'a stream holds nothing';
  const values = events.filter(({ data }) => data !== '[DONE]').map(({ data }) => parsed(data));
  if (values.some((value) => typeof value !== 'object' || value === null)) return 'an event of a stream is no object';
  const told = values.map((value) => oddCount(usageIn(value))).find((fault) => fault !== null);
  if (told !== undefined && told !== null) return `usage that cannot be: ${told}`;
  const failed = isError(dialect, values.at(-1)) || last.name === 'error';
  if (dialect === 'openai') return failed || last.data === '[DONE]' ? null : 'a stream ends without [DONE] or an error';
  if (dialect === 'gemini') {
    const finished = values.some((value) => /"finishReason":"|"blockReason":"/.test(JSON.stringify(value)));
    return failed || finished ? null : 'a stream ends without a finish reason or an error';
  }
  if (!failed && last.name !== 'message_stop') return 'a stream ends without message_stop or an error';
  return crossed ? blocksFault(values.map(members)) : null;
}

const shapes: Readonly<Record<Wire, (value: Members) => boolean>> = {
  openai: ({ choices, data }) => Array.isArray(choices) || Array.isArray(data),
  anthropic: ({ type, content, input_tokens }) =>
    (type === 'message' && Array.isArray(content)) || typeof input_tokens === 'number',
  gemini: (value) =>
    [value.candidates, value.embeddings, value.predictions].some(Array.isArray) ||
    typeof (value.embedding ?? value.promptFeedback) === 'object' ||
    typeof value.totalTokens === 'number',
};

/** What was sent, unpacked where it can be. */
function textOf(sent: FuzzRequest['body'], headers: FuzzRequest['headers']): string {
  if (sent === null) return '';
  if (!/gzip/.test(String(headers['content-encoding'] ?? ''))) return sent.toString('utf8');
  try {
    return gunzipSync(sent).toString('utf8');
  } catch {
    return '';
  }
}

/** What is wrong with the form of an answer to a call; null: nothing. */
export function formFault(
  { path, headers: given, body: sent }: FuzzRequest,
  { status, headers, body, cut }: Answer,
): string | null {
  if (status === null || status === 431 || cut) return null;
  const dialect = dialectOf(path);
  const type = String(headers['content-type'] ?? '');
  const crossed = !`${textOf(sent, given)}${path}`.includes(modelOfWire[dialect]);
  if (status >= 400) return isError(dialect, parsed(body)) ? null : 'an error has not the form of its dialect';
  if (type.includes('text/event-stream')) return streamFault(dialect, body, crossed);
  if (path.includes('/audio/')) return null;
  const value = parsed(body);
  if (Array.isArray(value)) return path.includes(':stream') ? null : 'an answer is a list';
  const odd = oddCount(usageIn(value));
  if (odd !== null) return `usage that cannot be: ${odd}`;
  // Between the same dialects an answer is carried in its upstream's own words.
  return !crossed || shapes[dialect](members(value)) ? null : 'an answer has not the form of its dialect';
}
