import type { ChatMessage, ChatRequest } from '../../contracts/neutral-request.js';
import { NotConvertible } from '../../contracts/protocol.js';
import { parseExactly } from '../../json/exact-json.js';
import { countIn, isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import {
  callsSaid,
  functionChoice,
  functionsOffered,
  refuseUnsupported,
  resultText,
  textOfPart,
} from '../chat-words.js';
import { declinesThinking } from '../declined-thinking.js';
import type { Edit, Target } from '../openai/variant.js';
import { optionsOf } from './options.js';

/* A chat in Ollama's own words: https://docs.ollama.com/api/chat. */

const refused = (what: string): NotConvertible => new NotConvertible('caller', what);

const inlinePicture = /^data:image\/[\w.+-]+(?:;[^;,]*)*;base64,/i;

/** Base64 alone. Throws NotConvertible. */
function pictureOf(part: JsonObject, path: string): string {
  const image = part.type === 'image_url' ? part.image_url : null;
  const url = (isObject(image) ? textIn(image.url) : textIn(image)) ?? '';
  const head = inlinePicture.exec(url.slice(0, 256))?.[0];
  if (head === undefined) throw refused(`${path}: this provider takes text and pictures only`);
  return url.slice(head.length);
}

/** Throws NotConvertible. */
function contentOf(content: JsonValue | undefined, path: string): { content: string; images?: string[] } {
  const images: string[] = [];
  const texts = (isList(content) ? content : [content ?? '']).flatMap((part, at) => {
    const text = textOfPart(part);
    if (text === null && isObject(part)) images.push(pictureOf(part, `${path}[${at}]`));
    return text ?? [];
  });
  return { content: texts.join('\n'), ...(images.length > 0 && { images }) };
}

const argumentsOf = (text: string): JsonObject => {
  const given = parseExactly(text);
  return isObject(given) ? given : {};
};

/** Throws NotConvertible. `names`: of the functions that were called, by the ids of their calls. */
function messageOf(message: ChatMessage, path: string, names: Map<string, string>): JsonObject {
  const { role, reasoning_content: thought, reasoning } = message;
  if (role === 'tool' || role === 'function') {
    const id = textIn(message.tool_call_id);
    const name = textIn(message.name) ?? (id === null ? undefined : names.get(id));
    return {
      role: 'tool',
      content: resultText(message, `${path}.content`),
      ...(name !== undefined && { tool_name: name }),
      ...(id !== null && { tool_call_id: id }),
    };
  }
  const said = contentOf(message.content, `${path}.content`);
  if (role !== 'assistant') return { role: role === 'system' || role === 'developer' ? 'system' : 'user', ...said };
  const calls = callsSaid(message, path);
  for (const { id, name } of calls) names.set(id, name);
  const thinking = textIn(thought) ?? textIn(reasoning);
  return {
    role,
    ...said,
    ...(thinking !== null && { thinking }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, arguments: given }) => ({
        id,
        function: { name, arguments: argumentsOf(given) },
      })),
    }),
  };
}

/** Throws NotConvertible. */
function toolsIn(body: ChatRequest): JsonObject {
  const choice = functionChoice(body);
  const offered = functionsOffered(body);
  if (offered.length === 0 || choice === 'none') return {};
  if (choice !== null && choice !== 'auto') throw refused('tool_choice: this provider takes auto and none');
  return {
    tools: offered.map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, ...(description !== null && { description }), parameters },
    })),
  };
}

function formatIn({ response_format: format }: ChatRequest): JsonValue | undefined {
  if (!isObject(format)) return undefined;
  const { type, json_schema: given } = format;
  if (type === 'json_object') return 'json';
  const schema = isObject(given) ? (given.schema ?? given) : undefined;
  return type === 'json_schema' && isObject(schema) ? schema : undefined;
}

const levels = new Set(['low', 'medium', 'high']);

/** Models that can think do so unless they are told not to; one family takes how much, and cannot be kept from it. */
function thinkIn(body: ChatRequest, members: JsonObject, { caller, model }: Target): JsonValue | undefined {
  const said: JsonObject = caller.dialect.wire === 'openai' ? body : { ...body, ...caller.neutral().body, ...members };
  const effort = textIn(said.reasoning_effort);
  if (/^gpt-oss/.test(model)) return effort !== null && levels.has(effort) ? effort : undefined;
  return declinesThinking(said) ? false : undefined;
}

/** Members of OpenAI's form that are read here: an operator's own are read as if the caller had given them. */
const readHere: ReadonlySet<string> = new Set([
  ...['temperature', 'top_p', 'top_k', 'seed', 'frequency_penalty', 'presence_penalty', 'stop', 'messages'],
  ...['max_tokens', 'max_completion_tokens', 'reasoning_effort', 'thinking', 'response_format'],
  ...['tools', 'tool_choice', 'functions', 'function_call', 'parallel_tool_calls'],
]);

/** A channel's own parameters as they are read with a chat. */
export interface OperatorsParameters {
  /** Ollama's options. */
  readonly options: JsonObject;
  /** In OpenAI's form. */
  readonly members: JsonObject;
  /** Ollama's own members, put into the request as they are. */
  readonly others: JsonObject;
}

export function operatorsParameters(override: JsonObject): OperatorsParameters {
  const { options, ...rest } = override;
  const members: JsonObject = {};
  const others: JsonObject = {};
  for (const [name, value] of Object.entries(rest)) (readHere.has(name) ? members : others)[name] = value;
  const limit = [members.max_completion_tokens, members.max_tokens].find((one) => (countIn(one) ?? 0) > 0);
  delete members.max_completion_tokens;
  delete members.max_tokens;
  // A limit that is none takes none away.
  if (limit !== undefined) members.max_tokens = limit;
  return { options: isObject(options) ? options : {}, members, others };
}

export const ownChat =
  ({ options: operators, members }: Pick<OperatorsParameters, 'options' | 'members'>): Edit =>
  (body, target) => {
    const asked = { ...body, ...members } as ChatRequest & JsonObject;
    refuseUnsupported(asked, { formats: true });
    const names = new Map<string, string>();
    const options = optionsOf(asked, operators, target.caller.maxOutput);
    return {
      model: body.model,
      messages: objectsIn(asked.messages).map((message, at) => messageOf(message, `messages[${at}]`, names)),
      stream: target.caller.stream,
      ...toolsIn(asked),
      format: formatIn(asked),
      think: thinkIn(asked, members, target),
      ...(Object.keys(options).length > 0 && { options }),
    };
  };
