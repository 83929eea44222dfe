import type { ChatRequest, EmbeddingRequest } from '../../contracts/neutral-request.js';
import { NotConvertible, type Protocol, type UpstreamRequest } from '../../contracts/protocol.js';
import { jsonText } from '../../json/exact-number.js';
import { countIn, type JsonObject, type JsonValue, numberIn } from '../../json/json.js';
import {
  type FunctionChoice,
  functionChoice,
  functionsOffered,
  type OfferedFunction,
  refuseUnsupported,
  stopTexts,
} from '../chat-words.js';
import { declinesThinking } from '../declined-thinking.js';
import { refusePurpose, textsToEmbed } from '../embeddings.js';
import { baseOf, neutralAs, notServed, written } from '../request-builder.js';
import { thinkingInOpenAi } from '../requested-thinking.js';
import { hunyuanMessages } from './messages.js';

/* What is asked of Hunyuan: one address, and an action that a header names. There is no limit to the output. */

const toolOf = ({ name, description, parameters }: OfferedFunction): JsonObject => ({
  Type: 'function',
  Function: { Name: name, ...(description !== null && { Description: description }), Parameters: jsonText(parameters) },
});

/** One function can be forced, but not one out of several. */
function choiceOf(choice: FunctionChoice, functions: readonly OfferedFunction[]): JsonObject {
  if (choice === 'auto' || choice === 'none') return { ToolChoice: choice };
  const named =
    choice === 'required'
      ? functions.length === 1
        ? functions[0]
        : undefined
      : functions.find((one) => one.name === choice.name);
  if (named !== undefined) return { ToolChoice: 'custom', CustomTool: toolOf(named) };
  throw new NotConvertible(
    'caller',
    choice === 'required'
      ? 'tool_choice: this provider can be made to call one function, not one of several'
      : 'tool_choice names a function that is not among the tools',
  );
}

function toolsOf(body: ChatRequest): JsonObject {
  const functions = functionsOffered(body);
  if (functions.length === 0) return {};
  const choice = functionChoice(body);
  return { Tools: functions.map(toolOf), ...(choice !== null && choiceOf(choice, functions)) };
}

const maxSeed = 10_000;

/** Others than those that are taken become one that is, the same at each call. */
function seedOf(asked: JsonValue | undefined): number | undefined {
  const seed = numberIn(asked);
  if (seed === null || !Number.isSafeInteger(seed)) return undefined;
  return seed >= 1 && seed <= maxSeed ? seed : (Math.abs(seed) % maxSeed) + 1;
}

function chatBody(body: ChatRequest, model: string, stream: boolean): JsonObject {
  refuseUnsupported(body);
  const said = declinesThinking(body) ? false : thinkingInOpenAi(body as JsonObject) === 'asked' ? true : undefined;
  const stops = stopTexts(body);
  return {
    Model: model,
    Messages: hunyuanMessages(body.messages),
    Stream: stream,
    Temperature: body.temperature ?? undefined,
    TopP: body.top_p ?? undefined,
    Seed: seedOf(body.seed),
    Stop: stops.length > 0 ? stops : undefined,
    EnableThinking: said,
    ...toolsOf(body),
  };
}

const vectorLength = 1024;

function embeddingBody(body: EmbeddingRequest): JsonObject {
  refusePurpose(body);
  if (body.dimensions !== undefined && countIn(body.dimensions) !== vectorLength)
    throw new NotConvertible('caller', `dimensions: this provider makes vectors of ${vectorLength}`);
  const texts = textsToEmbed(body);
  return texts.length === 1 ? { Input: texts[0] } : { InputList: texts };
}

const version = '2023-09-01';

/** Signed later, byte for byte. Throws NotConvertible. */
export const hunyuanRequest: Protocol['request'] = ({ provider, channel, caller, model, options }): UpstreamRequest => {
  const { mode } = caller;
  if (mode !== 'chat' && mode !== 'embeddings') throw notServed(mode);
  const chat = mode === 'chat' ? neutralAs(caller, 'chat') : null;
  const body = chat === null ? embeddingBody(neutralAs(caller, 'embeddings')) : chatBody(chat, model, caller.stream);
  const override = options.passThrough ? null : channel.paramOverride;
  return {
    method: 'POST',
    url: `${baseOf(provider, channel)}/`,
    headers: {
      'content-type': 'application/json',
      accept: caller.stream ? 'text/event-stream' : 'application/json',
      'x-tc-action': chat === null ? 'GetEmbedding' : 'ChatCompletions',
      'x-tc-version': version,
    },
    content: { kind: 'json', text: written(override === null ? body : { ...body, ...override }) },
    model,
    reasoningEffort: null,
    thinking: body.EnableThinking === true ? 'asked' : 'unsaid',
  };
};
