import type { ModelFacts } from '../../../../domain/models/fact-kinds.js';
import { factsOf } from '../../../../domain/models/model-facts.js';
import type { InvalidMember } from '../../../contracts/caller-dialect.js';
import type { Demand, DemandInput, Endpoint } from '../../../contracts/endpoint.js';
import { keptInChat } from '../../../contracts/kept-ids.js';
import { asksForAudio } from '../../../contracts/neutral.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../../json/json.js';
import { textsWithin } from '../../../json/nested-texts.js';
import { earlierSound, readByTool } from '../../../metering/media-tokens.js';
import { PromptTally } from '../../../metering/prompt-tally.js';
import { toolsAsked } from '../../../metering/tool-calls.js';
import { openAiCaller } from '../dialect.js';
import { documentTexts, inputTexts, untilUser } from '../input.js';
import { choicesAsked, outputAllowed } from '../limits.js';
import { wrongOwnTools } from '../own-tools.js';
import { asksForStream, asksForUsage } from '../streaming.js';
import { invalidRequest } from '../validate.js';

/* Conversations: messages, pictures and tools in, an answer out. */

const perReply = 3;
const perTools = 8;

function tallyContent(tally: PromptTally, content: JsonValue | undefined): void {
  if (typeof content === 'string') {
    tally.text(content);
    return;
  }
  for (const part of isList(content) ? content : [content]) {
    if (typeof part === 'string') tally.text(part);
    if (!isObject(part)) continue;
    tally.text(part.text ?? part.refusal);
    tally.cached(part.cache_control);
    tally.cached(part.prompt_cache_breakpoint);
    tally.part(part);
  }
}

function tallyCalled(tally: PromptTally, called: JsonValue | undefined): void {
  if (!isObject(called)) return;
  tally.text(called.name);
  tally.text(called.arguments);
}

function tallyMessage(tally: PromptTally, message: JsonObject, cost: ModelFacts['messageTokens']): void {
  tally.cached(message.cache_control);
  tally.fixed += cost.message;
  tally.text(message.role);
  tallyContent(tally, message.content);
  if (textIn(message.name) !== null && message.content) {
    tally.fixed += cost.name;
    tally.text(message.name);
  }
  tally.text(message.reasoning_content);
  // An earlier answer in sound is named by its id.
  if (isObject(message.audio)) tally.count(earlierSound);
  for (const call of objectsIn(message.tool_calls)) tallyCalled(tally, call.function);
  tallyCalled(tally, message.function_call);
}

const noneSwitched: ReadonlySet<string> = new Set();

function tallyTools(tally: PromptTally, body: JsonObject, switched: ReadonlySet<string>): void {
  const tools = objectsIn(body.tools);
  for (const tool of tools) tally.cached(tool.cache_control);
  const offered = [...tools.map((tool) => tool.function ?? tool), ...objectsIn(body.functions)];
  const functions = objectsIn(offered);
  if (functions.length > 0) tally.fixed += perTools;
  for (const { name, description, parameters } of functions) {
    tally.text(name);
    tally.text(description);
    tally.text(parameters);
    if (switched.has(textIn(name) ?? '')) tally.count(readByTool);
  }
  // What tools of a provider's own find, Azure looks up or a container holds comes into the prompt.
  for (let tools = toolsAsked(body); tools > 0; tools--) tally.count(readByTool);
  for (const source of [body.data_sources, body.dataSources, body.container])
    if ((source ?? null) !== null) tally.count(readByTool);
}

/** One part may stand for a list of one. */
function contentTexts(content: JsonValue | undefined): string[] {
  const parts = isObject(content) ? [content] : objectsIn(content);
  return [
    ...inputTexts(content),
    ...parts.flatMap(({ text, refusal }) => [...inputTexts(text), ...inputTexts(refusal)]),
  ];
}

function demand({ body, bytes, model, names, switched = noneSwitched }: DemandInput): Demand {
  const tally = new PromptTally(model, names);
  const { messageTokens } = factsOf(model);
  for (const message of objectsIn(body.messages)) tallyMessage(tally, message, messageTokens);
  tallyTools(tally, body, switched);
  for (const text of documentTexts(body.documents)) tally.text(text);
  for (const text of textsWithin(body.inputs)) tally.text(text);
  tally.cached(body.prompt_cache_options);
  tally.cached(body.cache_control);
  tally.fixed += perReply;
  return { prompt: tally.total(bytes), answers: choicesAsked(body), asked: outputAllowed(body) };
}

const messages = ({ messages: given }: JsonObject): InvalidMember | null => {
  if (!isList(given) || given.length === 0) return { param: 'messages', message: 'field messages is required' };
  return given.every(isObject) ? null : { param: 'messages', message: 'every message must be an object' };
};

/** What is offered decides what a call may cost, so it is read in one shape and sent in no other. */
function offered(body: JsonObject): InvalidMember | null {
  for (const param of ['tools', 'functions']) {
    const given = body[param] ?? null;
    if (given !== null && !(isList(given) && given.every(isObject)))
      return { param, message: `${param} must be a list of objects` };
  }
  const { modalities } = body;
  if ((modalities ?? null) !== null && !(isList(modalities) && modalities.every((one) => typeof one === 'string')))
    return { param: 'modalities', message: 'modalities must be a list of strings' };
  return wrongOwnTools(body);
}

export const chat: Endpoint = {
  path: '/v1/chat/completions',
  dialect: openAiCaller,
  body: 'json',
  mode: 'chat',
  usualModel: null,
  answersAudio: false,
  thinking: (body) => body,
  toNeutral: null,
  invalid: (body) => invalidRequest('invalid_text_request', body, (body) => messages(body) ?? offered(body)),
  promptTexts: ({ messages, prediction, documents, inputs }) => [
    ...objectsIn(messages).flatMap(({ content, refusal }) => [...contentTexts(content), ...inputTexts(refusal)]),
    ...(isObject(prediction) ? contentTexts(prediction.content) : []),
    ...documentTexts(documents),
    ...textsWithin(inputs),
  ],
  beginning: ({ messages }) => untilUser(messages),
  asksForAudio,
  asksForStream,
  asksForUsage,
  kept: keptInChat,
  demand,
};
