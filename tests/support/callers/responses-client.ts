import OpenAI from 'openai';
import type {
  ResponseCreateParamsNonStreaming,
  ResponseInput,
  ResponseInputItem,
} from 'openai/resources/responses/responses';
import { isObject, type JsonObject, parseJson } from '../../../src/relay/json/json.js';
import type { Conversation, DialectClient } from './dialect-clients.js';

/* The official client of the Responses interface behind the one way of asking that the other clients have. */

const parameters = { type: 'object', properties: { city: { type: 'string' } } };

const object = (text: string): JsonObject => {
  const value = parseJson(text);
  return isObject(value) ? value : {};
};

type Answered = OpenAI.Responses.Response['output'];

function inputOf({ user, before }: Conversation): ResponseInput {
  const content = user.map(
    (part): OpenAI.Responses.ResponseInputContent =>
      'text' in part
        ? { type: 'input_text', text: part.text }
        : 'image' in part
          ? { type: 'input_image', image_url: `data:image/png;base64,${part.image}`, detail: 'auto' }
          : { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${part.pdf}` },
  );
  if (before === undefined) return [{ role: 'user', content }];
  const answered = before.received.own as Answered;
  const results = answered
    .filter((item) => item.type === 'function_call')
    .map(
      ({ call_id }, at): ResponseInputItem => ({
        type: 'function_call_output',
        call_id,
        output: before.results[at] ?? '',
      }),
    );
  return [{ role: 'user', content }, ...(answered as ResponseInputItem[]), ...results];
}

const bodyOf = (asked: Conversation): Omit<ResponseCreateParamsNonStreaming, 'stream'> => ({
  model: asked.model,
  input: inputOf(asked),
  max_output_tokens: asked.limit,
  store: false,
  ...(asked.system && { instructions: asked.system }),
  ...(asked.tools && {
    tools: asked.tools.map((name) => ({ type: 'function' as const, name, parameters, strict: false })),
  }),
  ...(asked.schema && {
    text: {
      format: {
        type: 'json_schema' as const,
        name: 'answer',
        schema: {
          type: 'object',
          properties: Object.fromEntries(asked.schema.map((name) => [name, { type: 'string' }])),
        },
      },
    },
  }),
});

export function responsesClient(url: string, apiKey: string): Omit<DialectClient, 'protocol'> {
  const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
  return {
    async ask(asked, stream) {
      const { output, output_text, incomplete_details, usage } = stream
        ? await client.responses.stream(bodyOf(asked)).finalResponse()
        : await client.responses.create(bodyOf(asked));
      const calls = (output as Answered).filter((item) => item.type === 'function_call');
      return {
        text: output_text,
        thinking: output
          .flatMap((item) => (item.type === 'reasoning' ? item.summary.map(({ text }) => text) : []))
          .join(''),
        calls: calls.map((call) => ({ name: call.name, args: object(call.arguments) })),
        stop: incomplete_details?.reason === 'max_output_tokens' ? 'length' : calls.length > 0 ? 'tools' : 'end',
        usage: {
          input: usage?.input_tokens ?? 0,
          cached: usage?.input_tokens_details.cached_tokens ?? 0,
          output: usage?.output_tokens ?? 0,
        },
        own: output,
      };
    },
    async disconnectDuringToolCall(asked) {
      const abort = new AbortController();
      const events = await client.responses.create({ ...bodyOf(asked), stream: true }, { signal: abort.signal });
      for await (const { type } of events) if (type === 'response.function_call_arguments.delta') abort.abort();
    },
    count: null,
    embed: null,
    failure: (status) =>
      status === 400 ? OpenAI.BadRequestError : status === 429 ? OpenAI.RateLimitError : OpenAI.InternalServerError,
  };
}
