import Anthropic from '@anthropic-ai/sdk';
import { ApiError, type Content, FunctionCallingConfigMode, GoogleGenAI, type Part } from '@google/genai';
import OpenAI from 'openai';
import { isObject, type JsonObject, parseJson } from '../../../src/relay/json/json.js';
import type { Protocol, ToolCall } from '../upstreams/dialect-upstreams.js';

/* The official clients behind one way of asking: a conversation in, what its caller got out. */

type UserPart =
  | { readonly text: string; readonly kept?: boolean }
  /** Base64. */
  | { readonly image: string }
  | { readonly pdf: string };

export interface Conversation {
  readonly model: string;
  readonly system?: string;
  readonly user: readonly UserPart[];
  /** What was answered before, with the results of its calls in their order. */
  readonly before?: { readonly received: ReceivedAnswer; readonly results: readonly string[] };
  /** Each takes a city. */
  readonly tools?: readonly string[];
  readonly stops?: readonly string[];
  /** Properties that the answer is to have. */
  readonly schema?: readonly string[];
  readonly limit: number;
}

interface ReceivedAnswer {
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly ToolCall[];
  readonly stop: 'end' | 'length' | 'tools';
  /** All input, what of it came from a cache, all output. */
  readonly usage: { readonly input: number; readonly cached: number; readonly output: number };
  /** As the client would put it into its next request. */
  readonly own: unknown;
}

export interface DialectClient {
  readonly protocol: Protocol;
  ask(conversation: Conversation, stream: boolean): Promise<ReceivedAnswer>;
  /** Streams, and leaves once it has seen a piece of a call. Rejects, or not, as the client does. */
  disconnectDuringToolCall(conversation: Conversation): Promise<unknown>;
  /** null: this client has no such thing. */
  readonly count: ((model: string) => Promise<number | undefined>) | null;
  readonly embed: ((model: string, texts: readonly string[]) => Promise<readonly (readonly number[])[]>) | null;
  /** Of a failure with this status. */
  failure(status: number): abstract new (...args: never[]) => Error;
}

const schemaOf = (names: readonly string[]) => ({
  type: 'object' as const,
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  required: [...names],
  additionalProperties: false,
});
const parameters = { type: 'object' as const, properties: { city: { type: 'string' } } };
const object = (text: string): JsonObject => {
  const value = parseJson(text);
  return isObject(value) ? value : {};
};

type OpenAiMessage = OpenAI.Chat.Completions.ChatCompletionMessageParam;

function openAiMessages({ system, user, before }: Conversation): OpenAiMessage[] {
  const content = user.map((part) =>
    'text' in part
      ? { type: 'text' as const, text: part.text, ...(part.kept && { cache_control: { type: 'ephemeral' } }) }
      : 'image' in part
        ? { type: 'image_url' as const, image_url: { url: `data:image/png;base64,${part.image}` } }
        : {
            type: 'file' as const,
            file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${part.pdf}` },
          },
  );
  const messages: OpenAiMessage[] = [{ role: 'user', content }];
  if (system !== undefined) messages.unshift({ role: 'system', content: system });
  if (before === undefined) return messages;
  const answered = before.received.own as OpenAI.Chat.Completions.ChatCompletionAssistantMessageParam;
  const results = (answered.tool_calls ?? []).map(({ id }, at) => ({
    role: 'tool' as const,
    tool_call_id: id,
    content: before.results[at] ?? '',
  }));
  return [...messages, answered, ...results];
}

const openAiBody = (asked: Conversation) => ({
  model: asked.model,
  messages: openAiMessages(asked),
  max_tokens: asked.limit,
  ...(asked.stops && { stop: [...asked.stops] }),
  ...(asked.tools && {
    tools: asked.tools.map((name) => ({ type: 'function' as const, function: { name, parameters } })),
  }),
  ...(asked.schema && {
    response_format: {
      type: 'json_schema' as const,
      json_schema: { name: 'answer', strict: true, schema: schemaOf(asked.schema) },
    },
  }),
});

interface OpenAiDelta {
  content?: string | null;
  reasoning_content?: string;
  reasoning_details?: { type: string; signature?: string }[];
  tool_calls?: {
    index: number;
    id?: string;
    extra_content?: JsonObject;
    function?: { name?: string; arguments?: string };
  }[];
}

const openAiStops: Readonly<Record<string, ReceivedAnswer['stop']>> = {
  stop: 'end',
  length: 'length',
  tool_calls: 'tools',
};

/** By hand, as agents do it: the helper of the client does not know what other providers add. */
async function gathered(chunks: AsyncIterable<OpenAI.Chat.Completions.ChatCompletionChunk>) {
  const message = { role: 'assistant', content: '', reasoning_content: '', tool_calls: [] as JsonObject[] };
  const details: { type: string; signature?: string }[] = [];
  let finish = '';
  let usage: OpenAI.CompletionUsage | undefined;
  for await (const { choices, usage: usageOrAnswer } of chunks) {
    usage = usageOrAnswer ?? usage;
    const [choice] = choices;
    if (choice === undefined) continue;
    finish = choice.finish_reason ?? finish;
    const delta = choice.delta as OpenAiDelta;
    message.content += delta.content ?? '';
    message.reasoning_content += delta.reasoning_content ?? '';
    details.push(...(delta.reasoning_details ?? []));
    for (const { index, id, function: called, ...more } of delta.tool_calls ?? []) {
      const before = (message.tool_calls[index] ?? { function: { name: '', arguments: '' } }) as {
        function: { name: string; arguments: string };
      };
      message.tool_calls[index] = {
        ...before,
        ...more,
        ...(id && { id, type: 'function' }),
        function: {
          name: before.function.name + (called?.name ?? ''),
          arguments: before.function.arguments + (called?.arguments ?? ''),
        },
      };
    }
  }
  return { message: { ...message, ...(details.length > 0 && { reasoning_details: details }) }, finish, usage };
}

const signal = () => new AbortController();

export function openAiClient(url: string, apiKey: string): DialectClient {
  const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
  const streamOf = (asked: Conversation, options = {}) =>
    client.chat.completions.create(
      { ...openAiBody(asked), stream: true, stream_options: { include_usage: true } },
      options,
    );
  return {
    protocol: 'openai',
    async ask(asked, stream) {
      const usageOrAnswer = stream ? await gathered(await streamOf(asked)) : null;
      const whole = stream ? null : await client.chat.completions.create(openAiBody(asked));
      const message = (usageOrAnswer?.message ?? whole?.choices[0]?.message) as unknown as OpenAiDelta & JsonObject;
      const usage = usageOrAnswer?.usage ?? whole?.usage;
      return {
        text: message.content ?? '',
        thinking: message.reasoning_content ?? '',
        calls: (message.tool_calls ?? []).map(({ function: called }) => ({
          name: called?.name ?? '',
          args: object(called?.arguments ?? ''),
        })),
        stop: openAiStops[usageOrAnswer?.finish ?? whole?.choices[0]?.finish_reason ?? ''] ?? 'end',
        usage: {
          input: usage?.prompt_tokens ?? 0,
          cached: usage?.prompt_tokens_details?.cached_tokens ?? 0,
          output: usage?.completion_tokens ?? 0,
        },
        own: message,
      };
    },
    async disconnectDuringToolCall(asked) {
      const abort = signal();
      for await (const { choices } of await streamOf(asked, { signal: abort.signal }))
        if (choices[0]?.delta.tool_calls?.[0]?.function?.arguments) abort.abort();
    },
    count: null,
    embed: async (model, texts) =>
      (await client.embeddings.create({ model, input: [...texts], encoding_format: 'float' })).data.map(
        ({ embedding }) => embedding,
      ),
    failure: (status) =>
      status === 400 ? OpenAI.BadRequestError : status === 429 ? OpenAI.RateLimitError : OpenAI.InternalServerError,
  };
}

function anthropicMessages({ user, before }: Conversation): Anthropic.MessageParam[] {
  const content = user.map(
    (part): Anthropic.ContentBlockParam =>
      'text' in part
        ? { type: 'text', text: part.text, ...(part.kept && { cache_control: { type: 'ephemeral' } }) }
        : 'image' in part
          ? { type: 'image', source: { type: 'base64', media_type: 'image/png', data: part.image } }
          : { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: part.pdf } },
  );
  if (before === undefined) return [{ role: 'user', content }];
  const answered = before.received.own as Anthropic.ContentBlock[];
  const results = answered
    .filter((block) => block.type === 'tool_use')
    .map(({ id }, at) => ({ type: 'tool_result' as const, tool_use_id: id, content: before.results[at] ?? '' }));
  return [
    { role: 'user', content },
    { role: 'assistant', content: answered },
    { role: 'user', content: results },
  ];
}

const anthropicBody = (asked: Conversation): Anthropic.MessageCreateParamsNonStreaming => ({
  model: asked.model,
  max_tokens: asked.limit,
  messages: anthropicMessages(asked),
  ...(asked.system && { system: asked.system }),
  ...(asked.stops && { stop_sequences: [...asked.stops] }),
  ...(asked.tools && { tools: asked.tools.map((name) => ({ name, input_schema: parameters })) }),
  ...(asked.schema && { output_config: { format: { type: 'json_schema', schema: schemaOf(asked.schema) } } }),
});

const anthropicStops: Readonly<Record<string, ReceivedAnswer['stop']>> = {
  end_turn: 'end',
  max_tokens: 'length',
  tool_use: 'tools',
};

export function anthropicClient(url: string, apiKey: string): DialectClient {
  const client = new Anthropic({ apiKey, baseURL: url, maxRetries: 0, logLevel: 'off' });
  return {
    protocol: 'anthropic',
    async ask(asked, stream) {
      const { content, stop_reason, usage } = stream
        ? await client.messages.stream(anthropicBody(asked)).finalMessage()
        : await client.messages.create(anthropicBody(asked));
      return {
        text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
        thinking: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
        calls: content.flatMap((block) =>
          block.type === 'tool_use' ? [{ name: block.name, args: block.input as JsonObject }] : [],
        ),
        stop: anthropicStops[stop_reason ?? ''] ?? 'end',
        usage: {
          input: usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0),
          cached: usage.cache_read_input_tokens ?? 0,
          output: usage.output_tokens,
        },
        own: content,
      };
    },
    async disconnectDuringToolCall(asked) {
      const abort = signal();
      const events = await client.messages.create({ ...anthropicBody(asked), stream: true }, { signal: abort.signal });
      for await (const event of events)
        if (event.type === 'content_block_delta' && event.delta.type === 'input_json_delta') abort.abort();
    },
    count: async (model) =>
      (await client.messages.countTokens({ model, messages: [{ role: 'user', content: 'Count.' }] })).input_tokens,
    embed: null,
    failure: (status) =>
      status === 400
        ? Anthropic.BadRequestError
        : status === 429
          ? Anthropic.RateLimitError
          : Anthropic.InternalServerError,
  };
}

function geminiContents({ user, before }: Conversation): Content[] {
  const parts = user.map((part) =>
    'text' in part
      ? { text: part.text }
      : 'image' in part
        ? { inlineData: { mimeType: 'image/png', data: part.image } }
        : { inlineData: { mimeType: 'application/pdf', data: part.pdf } },
  );
  if (before === undefined) return [{ role: 'user', parts }];
  const answered = before.received.own as Part[];
  const results = answered
    .flatMap(({ functionCall }) => functionCall ?? [])
    .map(({ id, name }, at) => ({
      functionResponse: { ...(id && { id }), name: name ?? '', response: { output: before.results[at] } },
    }));
  return [
    { role: 'user', parts },
    { role: 'model', parts: answered },
    { role: 'user', parts: results },
  ];
}

const geminiBody = (asked: Conversation) => ({
  model: asked.model,
  contents: geminiContents(asked),
  config: {
    maxOutputTokens: asked.limit,
    ...(asked.system && { systemInstruction: asked.system }),
    ...(asked.stops && { stopSequences: [...asked.stops] }),
    ...(asked.tools && {
      tools: [{ functionDeclarations: asked.tools.map((name) => ({ name, parametersJsonSchema: parameters })) }],
      toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.AUTO } },
    }),
    ...(asked.schema && { responseMimeType: 'application/json', responseJsonSchema: schemaOf(asked.schema) }),
  },
});

export function geminiClient(url: string, apiKey: string): DialectClient {
  const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } });
  return {
    protocol: 'gemini',
    async ask(asked, stream) {
      const responses = [];
      if (stream)
        for await (const one of await client.models.generateContentStream(geminiBody(asked))) responses.push(one);
      else responses.push(await client.models.generateContent(geminiBody(asked)));
      const parts = responses.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
      const finish = responses.map(({ candidates }) => candidates?.[0]?.finishReason).findLast((one) => one);
      const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
      const usage = responses.at(-1)?.usageMetadata;
      return {
        text: parts.map(({ text = '', thought }) => (thought ? '' : text)).join(''),
        thinking: parts.map(({ text = '', thought }) => (thought ? text : '')).join(''),
        calls: calls.map(({ name = '', args = {} }) => ({ name, args: args as JsonObject })),
        stop: finish === 'MAX_TOKENS' ? 'length' : calls.length > 0 ? 'tools' : 'end',
        usage: {
          input: usage?.promptTokenCount ?? 0,
          cached: usage?.cachedContentTokenCount ?? 0,
          output: (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0),
        },
        own: parts,
      };
    },
    async disconnectDuringToolCall(asked) {
      const abort = signal();
      const body = geminiBody(asked);
      const responses = await client.models.generateContentStream({
        ...body,
        config: { ...body.config, abortSignal: abort.signal },
      });
      // Calls are sent whole here: it leaves before the first has come to its end.
      for await (const _ of responses) abort.abort();
    },
    count: async (model) => (await client.models.countTokens({ model, contents: 'Count.' })).totalTokens,
    embed: async (model, texts) =>
      ((await client.models.embedContent({ model, contents: [...texts] })).embeddings ?? []).map(
        ({ values = [] }) => values,
      ),
    failure: () => ApiFailure,
  };
}

const ApiFailure = ApiError as unknown as abstract new (...args: never[]) => Error;
