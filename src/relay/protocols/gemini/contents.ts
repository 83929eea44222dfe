import { googleReasoning, toolCallSignature } from '../../contracts/neutral.js';
import type { ChatMessage } from '../../contracts/neutral-request.js';
import { NotConvertible } from '../../contracts/protocol.js';
import { parseExactly } from '../../json/exact-json.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { instructionText } from '../instructions.js';
import { checkImages, type Fetched, mediaPart } from './media.js';

/* A conversation as Gemini has it: turns of user and model, made of parts, and the instructions beside them. */

interface Conversation {
  /** Empty: there are none. */
  readonly instructions: string;
  readonly contents: readonly JsonObject[];
}

interface ConversationRules {
  /** Instructions are written as the beginning of what the user says. */
  readonly withoutInstructions: boolean;
  /** A call of a function is refused that is not signed. */
  readonly signsCalls: boolean;
  readonly fetched: Fetched;
}

/** In the place of a signature that the caller's dialect has lost. */
const unsigned = 'skip_thought_signature_validator';

const textPart = (text: string): JsonObject[] => (text === '' ? [] : [{ text }]);

const isTextPart = ({ type, text }: JsonObject): boolean =>
  type === 'text' || ((type ?? null) === null && (text ?? null) !== null);

/** Throws NotConvertible. */
function partsOf(content: JsonValue | undefined, name: string, fetched: Fetched): JsonObject[] {
  if (!isList(content)) return textPart(textIn(content) ?? '');
  const given = objectsIn(content);
  checkImages(given, `${name}.content`);
  return given.flatMap((part, at) =>
    isTextPart(part) ? textPart(textIn(part.text) ?? '') : [mediaPart(part, `${name}.content[${at}]`, fetched)],
  );
}

/** Throws NotConvertible. */
const instructionsIn = (content: JsonValue | undefined, name: string): string =>
  isList(content)
    ? objectsIn(content)
        .map((part) => {
          if (isTextPart(part)) return textIn(part.text) ?? '';
          throw new NotConvertible('caller', `${name}.content: instructions can only be text`);
        })
        .join('\n')
    : (textIn(content) ?? '');

/** Throws NotConvertible. */
function argumentsOf({ arguments: given }: JsonObject, name: string): JsonObject {
  const parsed = textIn(given) === null ? (given ?? {}) : parseExactly(String(given));
  if (isObject(parsed)) return parsed;
  if (given === '' || given === null) return {};
  throw new NotConvertible('caller', `${name}.arguments is not the text of a JSON object`);
}

/** What was said, of which the thinking is sealed: the seal goes with the last of it. */
function withSeal(parts: JsonObject[], message: ChatMessage): JsonObject[] {
  const seal = objectsIn(message.reasoning_details).findLast(({ format }) => format === googleReasoning)?.data;
  if (textIn(seal) === null) return parts;
  const last = parts.pop() ?? { text: '' };
  return [...parts, { ...last, thoughtSignature: seal }];
}

class Reading {
  readonly instructions: string[] = [];
  readonly contents: { role: string; parts: JsonObject[] }[] = [];
  /** The calls so far in their order, by their ids. */
  private readonly called = new Map<JsonValue, { readonly name: string; readonly at: number }>();

  /** Those in a row that have come last. */
  private results: { readonly at: number; readonly parts: JsonObject[] }[] = [];

  constructor(private readonly rules: ConversationRules) {}

  message(message: ChatMessage, name: string): void {
    switch (message.role) {
      case 'system':
      case 'developer': {
        const text = instructionsIn(message.content, name);
        if (text === '') return;
        // Later ones keep their place: at the head they would change what is kept in a cache with every turn.
        if (this.contents.length === 0 && this.results.length === 0) this.instructions.push(text);
        else this.say('user', [{ text: instructionText(text) }]);
        return;
      }
      case 'assistant':
        this.say('model', this.answered(message, name));
        return;
      case 'tool':
      case 'function':
        this.result(message, name);
        return;
      default:
        this.say('user', partsOf(message.content, name, this.rules.fetched));
    }
  }

  /** Neighbours of one role are one turn. */
  private say(role: string, parts: JsonObject[]): void {
    if (parts.length === 0) return;
    this.answerCalls();
    const last = this.contents.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else this.contents.push({ role, parts });
  }

  private answered(message: ChatMessage, name: string): JsonObject[] {
    const said = withSeal(
      [...partsOf(message.content, name, this.rules.fetched), ...textPart(textIn(message.refusal) ?? '')],
      message,
    );
    const calls = objectsIn(message.tool_calls).map((call, at) => {
      const called = isObject(call.function) ? call.function : {};
      this.called.set(call.id ?? null, { name: textIn(called.name) ?? '', at: this.called.size });
      return this.call(called, toolCallSignature(call), at, `${name}.tool_calls[${at}].function`);
    });
    const { function_call: legacy } = message;
    if (isObject(legacy)) calls.push(this.call(legacy, null, calls.length, `${name}.function_call`));
    return [...said, ...calls];
  }

  /** Of calls made at once the first alone is signed. */
  private call(called: JsonObject, signature: string | null, at: number, name: string): JsonObject {
    const functionCall = { name: textIn(called.name) ?? '', args: argumentsOf(called, name) };
    const thoughtSignature = signature ?? (this.rules.signsCalls && at === 0 ? unsigned : null);
    return thoughtSignature === null ? { functionCall } : { functionCall, thoughtSignature };
  }

  private result(message: ChatMessage, name: string): void {
    const { tool_call_id: id, content } = message;
    const call = this.called.get(id ?? null);
    const called = textIn(message.name) ?? call?.name;
    if (!called)
      throw new NotConvertible('caller', `${name}.tool_call_id is that of no call before it, and there is no name`);
    const parts = partsOf(content, name, this.rules.fetched);
    const texts = parts.flatMap(({ text }) => textIn(text) ?? []);
    const media = parts.filter(({ text }) => text === undefined);
    const response = message.is_error === true ? { error: texts.join('\n') } : responseOf(texts.join('\n'));
    this.results.push({
      at: call?.at ?? this.called.size,
      parts: [{ functionResponse: { name: called, response } }, ...media],
    });
  }

  /** Nothing but their order says which result is that of which call: they stand in that of the calls. */
  answerCalls(): void {
    if (this.results.length === 0) return;
    const results = this.results.sort((a, b) => a.at - b.at).flatMap(({ parts }) => parts);
    this.results = [];
    this.say('user', results);
  }
}

/** A result must be an object: what is none is put into one. */
function responseOf(text: string): JsonObject {
  const parsed = /^\s*[{[]/.test(text) ? parseExactly(text) : null;
  if (isObject(parsed)) return parsed;
  return isList(parsed) ? { result: parsed } : { content: text };
}

/** Throws NotConvertible. */
export function conversation(messages: readonly ChatMessage[], rules: ConversationRules): Conversation {
  const reading = new Reading(rules);
  for (const [at, message] of messages.entries()) reading.message(message, `messages[${at}]`);
  reading.answerCalls();
  const instructions = reading.instructions.join('\n');
  const { contents } = reading;
  if (!rules.withoutInstructions || instructions === '') return { instructions, contents };
  const first = contents.find(({ role }) => role === 'user');
  if (first === undefined) contents.unshift({ role: 'user', parts: [{ text: instructions }] });
  else first.parts.unshift({ text: instructions });
  return { instructions: '', contents };
}
