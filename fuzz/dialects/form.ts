import { gunzipSync } from 'node:zlib';
import type { Answer } from '../judge.js';
import type { FuzzRequest } from '../request.js';
import { seedOfCalls } from './calls/meant.js';
import { callsFault } from './calls/received.js';
import { drawingModel, modelOfWire, type Wire } from './requests-as-meant.js';
import { isTranscriptPath, transcriptFault } from './transcripts.js';

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
/** Reported usage is what is charged: counts, none of them negative. */
function oddCount(value: unknown): string | null {
  for (const [name, count] of Object.entries(members(value))) {
    if (countNames.test(name) && count !== null && !(Number.isSafeInteger(count) && Number(count) >= 0))
      return `${name} is ${JSON.stringify(count)}`;
    const inner = typeof count === 'object' ? oddCount(count) : null;
    if (inner !== null) return inner;
  }
  return null;
}

/** Events that nobody knows are carried whole, and nobody reads usage in them. */
const knownEvents: ReadonlySet<unknown> = new Set([undefined, 'message', 'message_start', 'message_delta']);

const usageIn = (value: unknown, dialect: Wire): unknown => {
  const { type, usage, usageMetadata, message } = members(value);
  if (dialect === 'anthropic' && !knownEvents.has(type)) return undefined;
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

/** What every stream of a dialect has in common, in events or as the members of a list. */
function valuesFault(dialect: Wire, values: readonly unknown[]): string | null {
  if (values.some((value) => typeof value !== 'object' || value === null)) return 'an event of a stream is no object';
  const odd = values.map((value) => oddCount(usageIn(value, dialect))).find((fault) => fault !== null);
  return odd === undefined || odd === null ? null : `usage that cannot be: ${odd}`;
}

const finishedForGemini = (values: readonly unknown[]): boolean =>
  values.some((value) => /"finishReason":"|"blockReason":"/.test(JSON.stringify(value)));

function endFault(dialect: Wire, events: readonly Event[], values: readonly unknown[]): string | null {
  const last = events.at(-1);
  const failed = isError(dialect, values.at(-1)) || last?.name === 'error';
  if (failed) return null;
  if (dialect === 'openai') return last?.data === '[DONE]' ? null : 'a stream ends without [DONE] or an error';
  if (dialect === 'anthropic')
    return last?.name === 'message_stop' ? null : 'a stream ends without message_stop or an error';
  return finishedForGemini(values) ? null : 'a stream ends without a finish reason or an error';
}

interface Read {
  /** The events of a stream, the members of a list, or the one whole answer. */
  readonly values: readonly unknown[];
  readonly fault: string | null;
}

function readStream(dialect: Wire, body: string, crossed: boolean): Read {
  const events = eventsIn(body);
  const values = events.filter(({ data }) => data !== '[DONE]').map(({ data }) => parsed(data));
  if (events.length === 0) return { values, fault: 'a stream holds nothing' };
  const fault = valuesFault(dialect, values) ?? endFault(dialect, events, values);
  const blocks = dialect === 'anthropic' && crossed ? blocksFault(values.map(members)) : null;
  return { values, fault: fault ?? blocks };
}

/** A stream whose events are the members of a list. */
function readList(values: readonly unknown[]): Read {
  const ended = isError('gemini', values.at(-1)) || finishedForGemini(values);
  const fault = values.length === 0 ? 'a list holds nothing' : valuesFault('gemini', values);
  return { values, fault: fault ?? (ended ? null : 'a list ends without a finish reason or an error') };
}

const isVector = (value: unknown): boolean => (typeof value === 'string' || Array.isArray(value)) && value.length > 0;

const shapes: Readonly<Record<Wire, (value: Members) => boolean>> = {
  openai: ({ choices, data }) => Array.isArray(choices) || Array.isArray(data),
  anthropic: ({ type, content, input_tokens }) =>
    (type === 'message' && Array.isArray(content)) || typeof input_tokens === 'number',
  gemini: (value) =>
    [value.candidates, value.embeddings, value.predictions].some(Array.isArray) ||
    typeof (value.embedding ?? value.promptFeedback) === 'object' ||
    typeof value.totalTokens === 'number',
};

const some = (value: unknown): boolean =>
  Array.isArray(value) && value.some((one) => Object.keys(members(one)).length > 0);

/**
 * Between the same dialects an answer is carried in its upstream's own words, whatever it leaves out beside; but one with
 * nothing of an answer in it is no answer, and is answered as a failure.
 */
const carriedShapes: Readonly<Record<Wire, (value: Members) => boolean>> = {
  openai: ({ choices, data }) => some(choices) || some(data),
  anthropic: ({ content, input_tokens }) => some(content) || typeof input_tokens === 'number',
  gemini: ({ candidates, embeddings, predictions, embedding, promptFeedback, totalTokens }) =>
    [candidates, embeddings, predictions].some(some) ||
    isVector(members(embedding).values) ||
    typeof promptFeedback === 'object' ||
    typeof totalTokens === 'number',
};

function readWhole(dialect: Wire, body: string, crossed: boolean): Read {
  const value = parsed(body);
  const values = [value];
  const odd = oddCount(usageIn(value, dialect));
  if (odd !== null) return { values, fault: `usage that cannot be: ${odd}` };
  if (!(crossed ? shapes : carriedShapes)[dialect](members(value)))
    return { values, fault: 'an answer has not the form of its dialect' };
  return { values, fault: isError(dialect, value) ? 'an error came as a success' : null };
}

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

/** As clients of Anthropic's and OpenAI's forms say it. */
const oneAtATime = /"(?:disable_parallel_tool_use":\s*true|parallel_tool_calls":\s*false)/;

/** What is wrong with the form of an answer to a call; null: nothing. */
export function formFault(
  { path, headers: given, body: sent }: FuzzRequest,
  { status, headers, body, cut }: Answer,
): string | null {
  if (status === null || status === 431 || cut) return null;
  const dialect = dialectOf(path);
  if (status >= 400) return isError(dialect, parsed(body)) ? null : 'an error has not the form of its dialect';
  const type = String(headers['content-type'] ?? '');
  if (isTranscriptPath(path)) return transcriptFault(type, body);
  if (path.includes('/audio/')) return null;
  const asked = `${textOf(sent, given)}${path}`;
  const crossed = ![modelOfWire[dialect], ...(dialect === 'gemini' ? [drawingModel] : [])].some((model) =>
    asked.includes(model),
  );
  const list = path.includes(':stream') ? parsed(body) : undefined;
  const { values, fault } = type.includes('text/event-stream')
    ? readStream(dialect, body, crossed)
    : Array.isArray(list)
      ? readList(list)
      : readWhole(dialect, body, crossed);
  const seed = seedOfCalls(asked);
  return (
    fault ?? (seed === null ? null : callsFault(dialect, values, { crossed, oneAtATime: oneAtATime.test(asked) }, seed))
  );
}
