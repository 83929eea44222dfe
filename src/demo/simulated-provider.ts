import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { isObject, type JsonObject, parseJson, textIn } from '../relay/json/json.js';
import {
  doneFrame,
  embeddingsOf,
  errorFrame,
  framesOf,
  type Speech,
  type SpokenEndpoint,
  simulatedBody,
  type Tokens,
  usageFrame,
  usageOf,
} from './simulated-answers.js';
import {
  answersTo,
  type Behaviour,
  limitOf,
  type Refusing,
  type SimulatedAnswer,
  speechFor,
  tokensFor,
  tokensIn,
} from './simulated-behaviour.js';
import { endEvents, messageBody, messageEvents, messageUsage, startEvent } from './simulated-messages.js';
import { lastResponseEvent, responseEvents, responseText } from './simulated-responses.js';

/* A provider on loopback that speaks OpenAI's wire and Anthropic's, does as it is set and counts what it served. */

interface SeenRequest {
  /** The same as the answer's `x-request-id`. */
  readonly id: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject;
}

interface Alike extends Pick<Tokens, 'prompt' | 'completion'> {
  calls: number;
}

interface Tally {
  /** Requests for answers; model lists are not counted. */
  readonly calls: number;
  readonly byModel: Readonly<Record<string, number>>;
  /** Calls answered to the last byte; `promptTokens` and `completionTokens` are theirs. */
  readonly completed: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** The same calls, as many as had these tokens. */
  readonly alike: readonly Alike[];
  /** Callers that left before the end. */
  readonly abandoned: number;
  /** The newest requests, oldest first. */
  readonly requests: readonly SeenRequest[];
}

interface SimulatedProviderOptions {
  readonly port?: number;
  readonly models?: readonly string[];
  /** What every model does that has no script. */
  readonly behaviour?: SimulatedAnswer;
  /** How many requests the tally remembers. */
  readonly remember?: number;
}

export interface SimulatedProvider {
  /** Without `/v1`: what goes into a channel's base URL. */
  readonly url: string;
  tally(): Tally;
  /** Sets what a model does. A list is done in order, one per call; the last one stays. */
  script(model: string, behaviour: Behaviour | readonly Behaviour[]): void;
  /** Forgets scripts and tally. */
  reset(): void;
  stop(): Promise<void>;
}

const defaultModels = ['gpt-4o-mini', 'gpt-4o', 'text-embedding-3-small', 'simulated-reasoner'];

type PreparedEndpoint = SpokenEndpoint | 'messages' | 'responses';

const endpointOf = (path: string): PreparedEndpoint | 'embeddings' | null => {
  if (path.endsWith('/responses')) return 'responses';
  if (path.endsWith('/messages')) return 'messages';
  if (path.endsWith('/chat/completions') || path.endsWith('/chatcompletion_v2')) return 'chat';
  if (path.endsWith('/completions')) return 'completions';
  return path.endsWith('/embeddings') ? 'embeddings' : null;
};

/** The part of an answer that does not depend on the prompt. */
interface Prepared {
  readonly speech: Speech;
  readonly frames: readonly string[];
  readonly whole: readonly [string, string];
}

function written(
  endpoint: PreparedEndpoint,
  model: string,
  speech: Speech,
  answers: number,
): Pick<Prepared, 'frames' | 'whole'> {
  if (endpoint === 'messages') return { frames: messageEvents(speech), whole: messageBody(model, speech) };
  // A whole response holds its usage.
  if (endpoint === 'responses') return { frames: responseEvents(model, speech), whole: ['', ''] };
  return { frames: framesOf(endpoint, model, speech, answers), whole: simulatedBody(endpoint, model, speech, answers) };
}

/** Writes it once per behaviour and model: the benchmark's upstream must cost next to nothing. */
class Speaker {
  private readonly known = new WeakMap<SimulatedAnswer, Map<string, Prepared>>();

  prepare(endpoint: PreparedEndpoint, model: string, body: JsonObject, behaviour: SimulatedAnswer): Prepared {
    const answers = answersTo(body);
    const fixed = body.tools === undefined && answers === 1;
    const name = `${endpoint} ${model}`;
    const known = this.preparedFor(behaviour);
    const before = fixed ? known.get(name) : undefined;
    if (before && limitOf(body, behaviour) >= tokensIn(before.speech)) return before;
    const speech = speechFor(model, body, behaviour);
    const prepared = { speech, ...written(endpoint, model, speech, answers) };
    if (fixed && !speech.cut) known.set(name, prepared);
    return prepared;
  }

  private preparedFor(behaviour: SimulatedAnswer): Map<string, Prepared> {
    let prepared = this.known.get(behaviour);
    if (prepared === undefined) {
      prepared = new Map();
      this.known.set(behaviour, prepared);
    }
    return prepared;
  }
}

class Counter {
  private counts = { calls: 0, completed: 0, promptTokens: 0, completionTokens: 0, abandoned: 0 };
  private byModel: Record<string, number> = {};
  private readonly alike = new Map<string, Alike>();
  private requests: SeenRequest[] = [];
  private readonly cutByUs = new WeakSet<ServerResponse>();

  constructor(private readonly remember: number) {}

  /** Notes a call, gives its id, and watches whether the caller stays. */
  arrived(
    model: string,
    path: string,
    headers: IncomingHttpHeaders,
    body: JsonObject,
    response: ServerResponse,
  ): string {
    const id = `simulated-${++this.counts.calls}`;
    this.byModel[model] = (this.byModel[model] ?? 0) + 1;
    if (this.requests.push({ id, path, headers, body }) > this.remember) this.requests.shift();
    response.once('close', () => {
      if (!response.writableFinished && !this.cutByUs.has(response)) this.counts.abandoned++;
    });
    return id;
  }

  served(tokens: Tokens): void {
    this.counts.completed++;
    this.counts.promptTokens += tokens.prompt;
    this.counts.completionTokens += tokens.completion;
    const { prompt, completion } = tokens;
    const known = this.alike.get(`${prompt} ${completion}`);
    if (known === undefined) this.alike.set(`${prompt} ${completion}`, { prompt, completion, calls: 1 });
    else known.calls++;
  }

  /** Drops the connection; that is not the caller leaving. */
  cut(response: ServerResponse): void {
    this.cutByUs.add(response);
    response.socket?.resetAndDestroy();
  }

  read(): Tally {
    return {
      ...this.counts,
      byModel: { ...this.byModel },
      alike: Array.from(this.alike.values(), (one) => ({ ...one })),
      requests: [...this.requests],
    };
  }

  reset(): void {
    this.counts = { calls: 0, completed: 0, promptTokens: 0, completionTokens: 0, abandoned: 0 };
    this.byModel = {};
    this.alike.clear();
    this.requests = [];
  }
}

const wait = (milliseconds: number): Promise<void> => pause(milliseconds, undefined, { ref: false });

/** Once the caller has read enough, or has gone; leaves no listener behind. */
async function drained(response: ServerResponse): Promise<void> {
  const settled = new AbortController();
  await Promise.race(
    ['drain', 'close'].map((event) => once(response, event, { signal: settled.signal }).catch(() => {})),
  );
  settled.abort();
}

/** Writes frames as set; false: it did not come to the end, and the caller has what was written. */
async function write(response: ServerResponse, frames: readonly string[], how: SimulatedAnswer, counter: Counter) {
  const { after, chunkDelayMs = 0, endless = false } = how;
  for (let at = 0; endless || at < frames.length; at++) {
    if (after?.frames === at) {
      if (after.then === 'close') response.end();
      if (after.then === 'error') response.end(errorFrame);
      // What was written so far must be on the wire before the connection goes.
      if (after.then === 'reset') response.write('\n', () => counter.cut(response));
      return false;
    }
    if (chunkDelayMs > 0 && at > 0) await wait(chunkDelayMs);
    // The frame after the role is the first word: an endless answer repeats it.
    const flowing = response.write(frames[endless ? Math.min(at, 1) : at] ?? '');
    if (!flowing && !response.destroyed) await drained(response);
    if (response.destroyed) return false;
  }
  return true;
}

const defaultRefusal = (status: number): JsonObject => ({
  error: { message: `Simulated refusal ${status}`, type: 'simulated_error', param: null, code: `simulated_${status}` },
});

async function read(request: IncomingMessage): Promise<JsonObject> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  const body = parseJson(Buffer.concat(parts).toString('utf8'));
  return isObject(body) ? body : {};
}

const sendJson = (response: ServerResponse, status: number, body: string): void => {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
};

function refuse(response: ServerResponse, { status, body = defaultRefusal(status), retryAfter }: Refusing): void {
  if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
  if (typeof body === 'string') response.writeHead(status, { 'content-type': 'text/html' }).end(body);
  else sendJson(response, status, JSON.stringify(body));
}

/** Starts it on loopback. */
export async function startSimulatedProvider(options: SimulatedProviderOptions = {}): Promise<SimulatedProvider> {
  const { remember = 100, models = defaultModels, behaviour: usual = {} } = options;
  const scripts = new Map<string, Behaviour[]>();
  const speaker = new Speaker();
  const counter = new Counter(remember);

  const nextBehaviour = (model: string): Behaviour => {
    const script = scripts.get(model);
    return (script && script.length > 1 ? script.shift() : script?.[0]) ?? usual;
  };

  const speak = async (
    endpoint: SpokenEndpoint,
    model: string,
    body: JsonObject,
    behaviour: SimulatedAnswer,
    response: ServerResponse,
  ): Promise<void> => {
    const { speech, frames, whole } = speaker.prepare(endpoint, model, body, behaviour);
    const tokens = tokensFor(body, behaviour, speech);
    if (body.stream !== true) {
      const usage = behaviour.usage === 'never' ? '' : `,"usage":${JSON.stringify(usageOf(tokens))}`;
      counter.served(tokens);
      return sendJson(response, 200, whole[0] + usage + whole[1]);
    }
    const asked = isObject(body.stream_options) && body.stream_options.include_usage === true;
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    if (!(await write(response, frames, behaviour, counter))) return;
    if (behaviour.usage === 'always' || (behaviour.usage !== 'never' && asked))
      response.write(usageFrame(endpoint, model, tokens));
    counter.served(tokens);
    response.end(doneFrame);
  };

  const speakMessage = async (
    model: string,
    body: JsonObject,
    behaviour: SimulatedAnswer,
    response: ServerResponse,
  ): Promise<void> => {
    const { speech, frames, whole } = speaker.prepare('messages', model, body, behaviour);
    const tokens = tokensFor(body, behaviour, speech);
    const reported = behaviour.usage === 'never' ? null : tokens;
    if (body.stream !== true) {
      counter.served(tokens);
      const usage = reported === null ? '' : `,"usage":${JSON.stringify(messageUsage(reported))}`;
      return sendJson(response, 200, whole[0] + usage + whole[1]);
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    response.write(startEvent(model, tokens));
    if (!(await write(response, frames, behaviour, counter))) return;
    counter.served(tokens);
    response.end(endEvents(speech, reported));
  };

  const speakResponse = async (
    model: string,
    body: JsonObject,
    behaviour: SimulatedAnswer,
    response: ServerResponse,
  ): Promise<void> => {
    const { speech, frames } = speaker.prepare('responses', model, body, behaviour);
    const tokens = tokensFor(body, behaviour, speech);
    const reported = behaviour.usage === 'never' ? null : tokens;
    if (body.stream !== true) {
      counter.served(tokens);
      return sendJson(response, 200, responseText(model, speech, reported));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    if (!(await write(response, frames, behaviour, counter))) return;
    counter.served(tokens);
    response.end(lastResponseEvent(model, speech, reported));
  };

  const call = async (path: string, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const endpoint = endpointOf(path);
    if (!endpoint) return sendJson(response, 404, JSON.stringify(defaultRefusal(404)));
    const body = await read(request);
    const model = textIn(body.model) ?? 'unnamed';
    response.setHeader('x-request-id', counter.arrived(model, path, request.headers, body, response));
    const behaviour = nextBehaviour(model);
    if (behaviour.kind === 'hang') return;
    if (behaviour.kind === 'reset') return counter.cut(response);
    if (behaviour.firstByteDelayMs) await wait(behaviour.firstByteDelayMs);
    if (behaviour.kind === 'refuse') return refuse(response, behaviour);
    if (endpoint === 'messages') return speakMessage(model, body, behaviour, response);
    if (endpoint === 'responses') return speakResponse(model, body, behaviour, response);
    if (endpoint !== 'embeddings') return speak(endpoint, model, body, behaviour, response);
    const tokens = tokensFor(body, behaviour, null);
    counter.served(tokens);
    sendJson(response, 200, JSON.stringify(embeddingsOf(model, body, tokens)));
  };

  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    if (path.endsWith('/models')) {
      const data = models.map((id) => ({ id, object: 'model', created: 1_750_000_000, owned_by: 'simulated' }));
      return sendJson(response, 200, JSON.stringify({ object: 'list', data }));
    }
    call(path, request, response).catch(() => response.destroy());
  });
  // Longer than any route rests between two rounds of a benchmark: who ends a connection that is just being used cuts a call.
  server.keepAliveTimeout = 3_600_000;
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    tally: () => counter.read(),
    script: (model, behaviour) => void scripts.set(model, [behaviour].flat()),
    reset: () => {
      scripts.clear();
      counter.reset();
    },
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
