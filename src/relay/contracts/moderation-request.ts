import { isList, isObject, type JsonObject, type JsonValue, textIn } from '../json/json.js';

/*
 * What is to be judged: a text, texts that are judged one by one, or the parts of one input, which are texts and
 * pictures. Some judge the last message of a conversation as well, by those before it, or of several conversations.
 */

/** Texts or parts of one request. */
const maxInputs = 2_048;

/** A member, and what is wrong with it. */
interface InvalidInput {
  readonly param: string;
  readonly message: string;
}

const wrong = (param: string, what: string): InvalidInput => ({ param, message: `${param} ${what}` });

const oneInput = 'must be a text, or a part of type text or image_url';

function wrongPart(part: JsonValue, param: string): InvalidInput | null {
  if (!isObject(part)) return wrong(param, oneInput);
  if (part.type === 'text') return typeof part.text === 'string' ? null : wrong(`${param}.text`, 'must be a text');
  if (part.type !== 'image_url') return wrong(param, oneInput);
  const url = isObject(part.image_url) ? textIn(part.image_url.url) : null;
  return url === null ? wrong(`${param}.image_url.url`, 'must be an address or a data URL') : null;
}

const isMessage = (one: JsonValue | undefined): boolean => isObject(one) && one.role !== undefined;

/** null: what is to be judged is no conversation. */
export function conversationsIn(input: JsonValue | undefined): readonly JsonValue[] | null {
  if (!isList(input)) return null;
  if (isMessage(input[0])) return [input];
  return isList(input[0]) && isMessage(input[0][0]) ? input : null;
}

/** What a message says, in texts; null: it holds something else. */
export function textsOfMessage({ content }: JsonObject): readonly string[] | null {
  if (typeof content === 'string') return [content];
  if (!isList(content) || content.length === 0) return null;
  const texts = content.flatMap((part) =>
    isObject(part) && part.type === 'text' && typeof part.text === 'string' ? [part.text] : [],
  );
  return texts.length === content.length ? texts : null;
}

const roles: readonly JsonValue[] = ['system', 'user', 'assistant', 'tool'];

function wrongMessage(message: JsonValue, param: string): InvalidInput | null {
  if (!isObject(message)) return wrong(param, 'must be a message');
  if (!roles.includes(message.role ?? null)) return wrong(`${param}.role`, `must be one of ${roles.join(', ')}`);
  if ((message.tool_calls ?? null) !== null) return wrong(`${param}.tool_calls`, 'cannot be judged: only words are');
  return textsOfMessage(message) === null
    ? wrong(`${param}.content`, 'must be a text, or a list of parts of type text')
    : null;
}

function invalidConversations(input: JsonValue | undefined, conversations: readonly JsonValue[]): InvalidInput | null {
  const several = conversations === input;
  let messages = 0;
  for (const [at, conversation] of conversations.entries()) {
    const param = several ? `input[${at}]` : 'input';
    if (!isList(conversation) || conversation.length === 0) return wrong(param, 'must be a list of messages');
    messages += conversation.length;
    if (messages > maxInputs) return wrong('input', `must have at most ${maxInputs} messages`);
    for (const [nth, message] of conversation.entries()) {
      const fault = wrongMessage(message, `${param}[${nth}]`);
      if (fault !== null) return fault;
    }
  }
  return null;
}

/** Of a body's `input`; null: it can be taken. */
export function invalidModeration(input: JsonValue | undefined): InvalidInput | null {
  const conversations = conversationsIn(input);
  if (conversations !== null) return invalidConversations(input, conversations);
  if (typeof input === 'string' && input !== '') return null;
  if (!isList(input) || input.length === 0)
    return wrong('input', 'is required: a text, a list of texts, or a list of parts');
  if (input.length > maxInputs) return wrong('input', `must have at most ${maxInputs} entries`);
  const texts = typeof input[0] === 'string';
  for (const [at, one] of input.entries()) {
    if (texts !== (typeof one === 'string')) return wrong(`input[${at}]`, 'must be as the first entry: texts or parts');
    const fault = typeof one === 'string' ? null : wrongPart(one, `input[${at}]`);
    if (fault !== null) return fault;
  }
  return null;
}

/** How many judgements an answer must have; null: parts are judged together, by some servers one by one. */
export const judgementsOf = (input: JsonValue | undefined): number | null => {
  const conversations = conversationsIn(input);
  if (conversations !== null) return conversations.length;
  if (!isList(input)) return 1;
  return typeof input[0] === 'string' ? input.length : null;
};
