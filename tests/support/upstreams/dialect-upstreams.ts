import type { ServerResponse } from 'node:http';
import { isObject, type JsonObject, objectsIn, parseJson } from '../../../src/relay/json/json.js';
import * as anthropic from './anthropic-upstream.js';
import { responsesUpstream } from './responses-upstream.js';
import { startUpstream, type UpstreamCall } from './upstream.js';

/* One answer in the words of each upstream's wire, and requests in those words read back: what was meant, and no more. */

export const protocols = ['openai', 'anthropic', 'gemini'] as const;
export type Protocol = (typeof protocols)[number];

/** Wires of upstreams: those of callers of a chat, and one that takes chats in words of its own. */
export const wires = [...protocols, 'responses'] as const;
export type UpstreamWire = (typeof wires)[number];

export interface ToolCall {
  readonly name: string;
  readonly args: JsonObject;
}

export interface Answer {
  readonly thinking?: string;
  readonly text?: string;
  readonly calls?: readonly ToolCall[];
  readonly cut?: boolean;
}

/** What a request meant to its upstream. Pictures and documents by their bytes, in base64. */
export interface ReceivedRequest {
  readonly system: string;
  readonly messages: readonly { readonly role: 'user' | 'model'; readonly text: string }[];
  readonly media: readonly string[];
  readonly calls: readonly ToolCall[];
  /** In the order of the calls. */
  readonly results: readonly string[];
  /** What lets the model be shown its thinking again. */
  readonly signatures: readonly string[];
  readonly tools: readonly string[];
  readonly stops: readonly string[];
  readonly limit: number | null;
  /** The names of the properties that the answer is to have. */
  readonly schema: readonly string[];
  readonly cached: number;
}

/** As every wire reports it: 60 tokens of the 100 came from a cache. */
export const used = { input: 100, cached: 60, output: 40 } as const;
export const signature = 'c2lnbmF0dXJl';

const strings = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string');
const object = (value: unknown): JsonObject => (isObject(value) ? value : {});
const propertiesOf = (schema: unknown): string[] => Object.keys(object(object(schema).properties)).sort();
const inlineData = (url: unknown): string => String(url).replace(/^data:[^,]*,/, '');
const parsedObject = (text: unknown): JsonObject => object(parseJson(String(text)));
const pieces = (text: string): string[] => text.match(/[\s\S]{1,5}/g) ?? [];

export interface Speaking {
  /** Of a channel. */
  readonly type: number;
  readonly model: string;
  /** Of the channel, as JSON. Left out: none. */
  readonly setting?: string;
  whole(answer: Answer): JsonObject;
  /** The frames of a stream, and what ends it. */
  stream(answer: Answer): string[];
  readonly end: string;
  /** So many frames before the end of a stream its last call is being sent, or has just been. */
  readonly afterCall: number;
  meant(body: JsonObject): ReceivedRequest;
  failure(status: number): JsonObject;
}

const sse = (payload: JsonObject): string => `data: ${JSON.stringify(payload)}\n\n`;

const openai: Speaking = {
  type: 1,
  model: 'gpt-4o',
  end: 'data: [DONE]\n\n',
  afterCall: 12,
  whole({ thinking, text, calls = [], cut }) {
    const toolCalls = calls.map(({ name, args }, at) => ({
      id: `call_${at}`,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    }));
    const message: JsonObject = { role: 'assistant', content: text ?? null };
    if (thinking !== undefined) message.reasoning_content = thinking;
    if (toolCalls.length > 0) message.tool_calls = toolCalls;
    const finish = cut ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop';
    return {
      ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1_750_000_000, model: 'gpt-4o' },
      choices: [{ index: 0, message, finish_reason: finish }],
      usage: {
        ...{ prompt_tokens: used.input, completion_tokens: used.output, total_tokens: used.input + used.output },
        prompt_tokens_details: { cached_tokens: used.cached },
      },
    };
  },
  stream({ thinking = '', text = '', calls = [], cut }) {
    const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_750_000_000, model: 'gpt-4o' };
    const chunk = (delta: JsonObject, finish: string | null = null) =>
      sse({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] });
    const called = calls.flatMap(({ name, args }, index) => [
      chunk({ tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: '' } }] }),
      ...pieces(JSON.stringify(args)).map((part) => chunk({ tool_calls: [{ index, function: { arguments: part } }] })),
    ]);
    return [
      chunk({ role: 'assistant', content: '' }),
      ...pieces(thinking).map((part) => chunk({ reasoning_content: part })),
      ...pieces(text).map((content) => chunk({ content })),
      ...called,
      chunk({}, cut ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop'),
      sse({ ...head, choices: [], usage: object(openai.whole({}).usage) }),
    ];
  },
  meant(body) {
    const messages = objectsIn(body.messages);
    const partsOf = (content: unknown): JsonObject[] =>
      typeof content === 'string' ? [{ type: 'text', text: content }] : objectsIn(content as JsonObject[]);
    const textOf = (content: unknown) =>
      partsOf(content)
        .flatMap(({ text }) => strings(text))
        .join('');
    const of = (...roles: readonly string[]) => messages.filter(({ role }) => roles.includes(String(role)));
    const calls = of('assistant').flatMap((message) => objectsIn(message.tool_calls));
    const format = object(object(body.response_format).json_schema);
    return {
      system: of('system', 'developer')
        .map(({ content }) => textOf(content))
        .join('\n'),
      messages: of('user', 'assistant').flatMap(({ role, content }) => {
        const text = textOf(content);
        return text === '' ? [] : [{ role: role === 'user' ? ('user' as const) : ('model' as const), text }];
      }),
      media: of('user')
        .flatMap(({ content }) => partsOf(content))
        .flatMap((part) => [
          ...strings(object(part.image_url).url).map(inlineData),
          ...strings(object(part.file).file_data).map(inlineData),
        ]),
      calls: calls.map((call) => ({
        name: String(object(call.function).name),
        args: parsedObject(object(call.function).arguments),
      })),
      results: calls.map(({ id }) => textOf(of('tool').find((message) => message.tool_call_id === id)?.content)),
      signatures: [],
      tools: objectsIn(body.tools).map((tool) => String(object(tool.function).name)),
      stops: strings(body.stop),
      limit: Number(body.max_completion_tokens ?? body.max_tokens) || null,
      schema: propertiesOf(format.schema),
      cached: 0,
    };
  },
  failure: (status) => ({ error: { message: 'Not now.', type: 'some_error', param: null, code: `code_${status}` } }),
};

const claude: Speaking = {
  type: 14,
  model: 'claude-sonnet-4-5',
  end: '',
  afterCall: 13,
  whole({ thinking, text, calls = [], cut }) {
    const content: JsonObject[] = [];
    if (thinking !== undefined) content.push({ type: 'thinking', thinking, signature });
    if (text !== undefined) content.push({ type: 'text', text });
    for (const [at, { name, args }] of calls.entries())
      content.push({ type: 'tool_use', id: `toolu_${at}`, name, input: args });
    const usage = {
      ...{ input_tokens: used.input - used.cached, cache_read_input_tokens: used.cached },
      output_tokens: used.output,
    };
    return anthropic.messageOf(content, usage, cut ? { stop_reason: 'max_tokens' } : {});
  },
  stream: (answer) => anthropic.eventsOf(claude.whole(answer)).map(anthropic.eventText),
  meant(body) {
    const blocks = objectsIn(body.messages).flatMap(({ role, content }) =>
      (typeof content === 'string' ? [{ type: 'text', text: content }] : objectsIn(content)).map(
        (block: JsonObject) => ({
          role,
          block,
        }),
      ),
    );
    const of = (type: string) => blocks.filter(({ block }) => block.type === type).map(({ block }) => block);
    const textOf = (content: unknown) =>
      typeof content === 'string'
        ? content
        : objectsIn(content as JsonObject[])
            .flatMap(({ text }) => strings(text))
            .join('');
    const system =
      typeof body.system === 'string'
        ? body.system
        : objectsIn(body.system)
            .map(({ text }) => text)
            .join('\n');
    return {
      system,
      messages: blocks
        .filter(({ block }) => block.type === 'text')
        .map(({ role, block }) => ({
          role: role === 'user' ? ('user' as const) : ('model' as const),
          text: String(block.text),
        })),
      media: blocks.flatMap(({ block }) => strings(object(block.source).data)),
      calls: of('tool_use').map(({ name, input }) => ({ name: String(name), args: object(input) })),
      results: of('tool_use').map(({ id }) => textOf(of('tool_result').find((one) => one.tool_use_id === id)?.content)),
      signatures: of('thinking').map((block) => String(block.signature)),
      tools: objectsIn(body.tools).map(({ name }) => String(name)),
      stops: strings(body.stop_sequences),
      limit: Number(body.max_tokens),
      schema: propertiesOf(object(object(body.output_config).format).schema),
      cached: blocks.filter(({ block }) => isObject(block.cache_control)).length,
    };
  },
  failure: (status) => ({
    type: 'error',
    error: {
      type: status === 429 ? 'rate_limit_error' : status === 400 ? 'invalid_request_error' : 'api_error',
      message: 'Not now.',
    },
  }),
};

const gemini: Speaking = {
  type: 24,
  model: 'gemini-3-pro-preview',
  end: '',
  afterCall: 1,
  whole({ thinking, text, calls = [], cut }) {
    const parts: JsonObject[] = [];
    if (thinking !== undefined) parts.push({ text: thinking, thought: true });
    if (text !== undefined) parts.push({ text });
    for (const [at, { name, args }] of calls.entries())
      parts.push({ functionCall: { name, args }, ...(at === 0 && { thoughtSignature: signature }) });
    return response(parts, cut ? 'MAX_TOKENS' : 'STOP');
  },
  stream({ thinking = '', text = '', calls = [], cut }) {
    const frames = [
      ...pieces(thinking).map((part) => response([{ text: part, thought: true }])),
      ...pieces(text).map((part) => response([{ text: part }])),
      ...calls.map(({ name, args }, at) =>
        response([{ functionCall: { name, args }, ...(at === 0 && { thoughtSignature: signature }) }]),
      ),
    ];
    return [...frames, response([{ text: '' }], cut ? 'MAX_TOKENS' : 'STOP')].map(sse);
  },
  meant(body) {
    const parts = objectsIn(body.contents).flatMap(({ role, parts }) =>
      objectsIn(parts).map((part) => ({ role, part })),
    );
    const calls = parts.filter(({ part }) => isObject(part.functionCall)).map(({ part }) => part);
    const config = object(body.generationConfig);
    const textsIn = (given: unknown) => objectsIn(object(given).parts).flatMap(({ text }) => strings(text));
    return {
      system: textsIn(body.systemInstruction).join('\n'),
      messages: parts
        .filter(({ part }) => typeof part.text === 'string' && part.text !== '' && part.thought !== true)
        .map(({ role, part }) => ({
          role: role === 'model' ? ('model' as const) : ('user' as const),
          text: String(part.text),
        })),
      media: parts.flatMap(({ part }) => strings(object(part.inlineData).data)),
      calls: calls.map(({ functionCall }) => ({
        name: String(object(functionCall).name),
        args: object(object(functionCall).args),
      })),
      results: parts
        .filter(({ part }) => isObject(part.functionResponse))
        .map(({ part }) => String(Object.values(object(object(part.functionResponse).response))[0])),
      signatures: calls.flatMap(({ thoughtSignature }) => strings(thoughtSignature)),
      tools: objectsIn(body.tools).flatMap((tool) =>
        objectsIn(tool.functionDeclarations).map(({ name }) => String(name)),
      ),
      stops: strings(config.stopSequences),
      limit: Number(config.maxOutputTokens) || null,
      schema: propertiesOf(config.responseSchema ?? config.responseJsonSchema),
      cached: 0,
    };
  },
  failure: (status) => ({ error: { code: status, message: 'Not now.', status: 'SOME_ERROR' } }),
};

function response(parts: readonly JsonObject[], finishReason?: string): JsonObject {
  return {
    candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason && { finishReason }) }],
    usageMetadata: {
      ...{ promptTokenCount: used.input, cachedContentTokenCount: used.cached },
      ...{ candidatesTokenCount: used.output, totalTokenCount: used.input + used.output },
    },
    modelVersion: 'gemini-3-pro-preview',
    responseId: 'resp-1',
  };
}

const speakers: Readonly<Record<UpstreamWire, Speaking>> = {
  ...{ openai, anthropic: claude, gemini },
  responses: responsesUpstream,
};

/** Of a channel of this wire. */
export const typeOf = (wire: UpstreamWire): number => speakers[wire].type;

/** What else a channel of this wire is known by. */
export const channelOf = (wire: UpstreamWire) => (wire === 'responses' ? { responsesOnly: true } : {});

/** What a request of this wire means, as its upstream reads it. */
export const meaningOf = (wire: UpstreamWire, body: JsonObject): ReceivedRequest => {
  const meant = speakers[wire].meant(body);
  return { ...meant, messages: joined(meant.messages) };
};

/** What a stream of this wire is. */
export const streamOf = (wire: UpstreamWire, answer: Answer): string =>
  speakers[wire].stream(answer).join('') + speakers[wire].end;

export interface DialectUpstream {
  readonly protocol: UpstreamWire;
  readonly setting: string | null;
  readonly url: string;
  readonly type: number;
  readonly model: string;
  answerWith(answer: Answer): void;
  /** Answers each request by what it meant. */
  converses(next: (received: ReceivedRequest) => Promise<Answer>): void;
  /** Refuses every call so. */
  refuses(status: number): void;
  /** A stream stops in the middle of its last call, and stays open. */
  stalls(answer: Answer): void;
  /** Of the newest request. */
  received(): ReceivedRequest;
  stop(): Promise<void>;
}

/** Neighbours of one role are one turn, in however many parts it came. */
function joined(said: ReceivedRequest['messages']): ReceivedRequest['messages'] {
  const turns: { role: 'user' | 'model'; text: string }[] = [];
  for (const { role, text } of said) {
    const last = turns.at(-1);
    if (last?.role === role) last.text += text;
    else turns.push({ role, text });
  }
  return turns;
}

/** Streams come in pieces that end in the middle of frames and of characters. */
function sendStream(response: ServerResponse, text: string, ends: boolean): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 61) response.write(bytes.subarray(at, at + 61));
  if (ends) response.end();
}

export async function startDialectUpstream(wire: UpstreamWire): Promise<DialectUpstream> {
  const speaker = speakers[wire];
  let serve: (streams: boolean, response: ServerResponse) => unknown = () => {};
  let newest: JsonObject = {};
  const json = (response: ServerResponse, status: number, body: JsonObject) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const reply = (answer: Answer, streams: boolean, response: ServerResponse) =>
    streams
      ? sendStream(response, speaker.stream(answer).join('') + speaker.end, true)
      : json(response, 200, speaker.whole(answer));
  const upstream = await startUpstream((call: UpstreamCall, response) => {
    const body = parsedObject(call.body);
    if (/count_tokens|:countTokens/.test(call.url)) return json(response, 200, { input_tokens: 42, totalTokens: 42 });
    if (/embed/i.test(call.url)) return json(response, 200, embeddings(wire, body));
    newest = body;
    serve(body.stream === true || call.url.includes(':streamGenerateContent'), response);
  });
  return {
    protocol: wire,
    setting: speaker.setting ?? null,
    url: upstream.url,
    type: speaker.type,
    model: speaker.model,
    answerWith(answer) {
      serve = (streams, response) => reply(answer, streams, response);
    },
    converses(next) {
      serve = async (streams, response) => reply(await next(speaker.meant(newest)), streams, response);
    },
    refuses(status) {
      serve = (_, response) => json(response, status, speaker.failure(status));
    },
    stalls(answer) {
      const frames = speaker.stream(answer).slice(0, -speaker.afterCall);
      serve = (_, response) => sendStream(response, frames.join(''), false);
    },
    received() {
      return meaningOf(wire, newest);
    },
    stop: () => upstream.stop(),
  };
}

const vector = [0.25, -0.5];

function embeddings(wire: UpstreamWire, body: JsonObject): JsonObject {
  if (wire === 'gemini')
    return Array.isArray(body.requests)
      ? { embeddings: body.requests.map(() => ({ values: vector })) }
      : { embedding: { values: vector } };
  const inputs = strings(body.input);
  return {
    object: 'list',
    model: 'embedder',
    data: inputs.map((_, index) => ({ object: 'embedding', index, embedding: vector })),
    usage: { prompt_tokens: 3, total_tokens: 3 },
  };
}
