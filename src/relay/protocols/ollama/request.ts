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
function thinkIn(body: ChatRequest, { caller, model }: Target): JsonValue | undefined {
  const said: JsonObject = caller.dialect.wire === 'openai' ? body : { ...body, ...caller.neutral().body };
  const effort = textIn(said.reasoning_effort);
  if (/^gpt-oss/.test(model)) return effort !== null && levels.has(effort) ? effort : undefined;
  return declinesThinking(said) ? false : undefined;
}

const sampling = ['temperature', 'top_p', 'top_k', 'seed', 'frequency_penalty', 'presence_penalty'] as const;

function optionsOf(body: ChatRequest, own: JsonValue | undefined, operators: JsonObject, max: number): JsonObject {
  const stops = (isList(body.stop) ? body.stop : [body.stop ?? null]).filter((one) => textIn(one) !== null);
  const numbers = sampling.flatMap((name) => (typeof body[name] === 'number' ? [[name, body[name]] as const] : []));
  const limit = countIn(body.max_tokens);
  const options: JsonObject = {
    ...(isObject(own) ? own : {}),
    ...Object.fromEntries(numbers),
    ...(stops.length > 0 && { stop: stops }),
    ...operators,
  };
  // -1 and -2 are no limit there, and whoever sets one does not raise it above what is reserved.
  const said = [limit, countIn(options.num_predict)].find((one) => one !== null && one > 0) ?? null;
  delete options.num_predict;
  return said === null ? options : { ...options, num_predict: Math.min(said, max) };
}

/** `operators`: options of a channel's own parameters. */
export const ownChat =
  (operators: JsonObject): Edit =>
  (body, target) => {
    const asked = body as unknown as ChatRequest;
    refuseUnsupported(asked, { formats: true });
    const names = new Map<string, string>();
    const options = optionsOf(asked, body.options, operators, target.caller.maxOutput);
    return {
      model: body.model,
      messages: objectsIn(body.messages).map((message, at) => messageOf(message, `messages[${at}]`, names)),
      stream: target.caller.stream,
      ...toolsIn(asked),
      format: formatIn(asked),
      think: thinkIn(asked, target),
      keep_alive: body.keep_alive,
      ...(Object.keys(options).length > 0 && { options }),
    };
  };
