import type { KeptKind } from '../../domain/call/kept-object.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../json/json.js';
import type { InvalidMember } from './caller-dialect.js';
import { RelayError } from './errors.js';

/* How a request names what a provider keeps, and what it asks to have kept. */

/** An id in a body, by which it names what a provider keeps. */
export interface NamedId {
  readonly kind: KeptKind;
  readonly id: string;
  /** Of the member it stands in, as callers are told, e.g. `input[3].id`. */
  readonly param: string;
  /** What of the body says nothing else: names of members and places in lists. */
  readonly path: readonly (string | number)[];
}

/** What a dialect's endpoint says of it. */
export interface KeptMembers {
  /** Every id by which this body names what is kept of the caller's. */
  readonly idsIn: (body: JsonObject) => readonly NamedId[];
  /** The first member that has something kept; null: there is none, or the provider's default decides. */
  readonly keeps: (body: JsonObject) => InvalidMember | null;
  /** The body without what has something new kept, which is nobody's yet. Left out: nothing is told apart so. */
  readonly withoutNew?: (body: JsonObject) => JsonObject;
}

/** The container of an earlier answer, as requests in Anthropic's words name it. */
const keptContainer: KeptMembers = {
  idsIn({ container }) {
    const param = 'container';
    if (typeof container === 'string') return [{ kind: 'container', id: container, param, path: [param] }];
    return isObject(container) && typeof container.id === 'string'
      ? [{ kind: 'container', id: container.id, param, path: [param, 'id'] }]
      : [];
  },
  keeps: () => null,
};

/** The container of an earlier answer, and the answer after which a conversation goes on that Anthropic keeps. */
export const keptInMessages: KeptMembers = {
  idsIn: (body) => [...keptContainer.idsIn(body), ...continuedMessageIn(body)],
  keeps: ({ thread }) =>
    (thread ?? null) === null
      ? null
      : {
          param: 'thread',
          message:
            'thread: Extra inputs are not permitted: nothing is kept at the provider; send the whole conversation as messages',
        },
  withoutNew(body) {
    const { thread, ...rest } = body;
    return isObject(thread) && thread.type === 'create' ? rest : body;
  },
};

function continuedMessageIn({ thread }: JsonObject): NamedId[] {
  if (!isObject(thread) || thread.type !== 'continue' || typeof thread.previous_message_id !== 'string') return [];
  const path = ['thread', 'previous_message_id'];
  return [{ kind: 'message', id: thread.previous_message_id, param: path.join('.'), path: ['thread'] }];
}

/** A conversation that goes on at an app of the provider's. */
function conversationIn({ conversation_id: id }: JsonObject): NamedId[] {
  const param = 'conversation_id';
  return textIn(id) === null ? [] : [{ kind: 'conversation', id: String(id), param, path: [param] }];
}

/** The container of an earlier answer, earlier answers in sound, and a conversation, as chats name them. */
export const keptInChat: KeptMembers = {
  idsIn: (body) => [...keptContainer.idsIn(body), ...earlierAudioIn(body), ...conversationIn(body)],
  keeps: () => null,
};

function* earlierAudioIn({ messages }: JsonObject): Iterable<NamedId> {
  for (const [at, message] of (isList(messages) ? messages : []).entries())
    if (isObject(message) && isObject(message.audio) && typeof message.audio.id === 'string')
      yield {
        kind: 'audio',
        id: message.audio.id,
        param: `messages[${at}].audio.id`,
        path: ['messages', at, 'audio', 'id'],
      };
}

/** What is made for whoever uses it, whether or not anything else is kept. */
export const isKeptAnyway = (kind: KeptKind): boolean => kind === 'container' || kind === 'audio';

/** An item of an input that is named by its id alone: one of an earlier answer, or a picture that it made. */
export const isItemReference = ({ type, role, id, result }: JsonObject): boolean =>
  type === 'item_reference' ||
  ((type ?? null) === null && (role ?? null) === null && (id ?? null) !== null) ||
  (type === 'image_generation_call' && textIn(result) === null);

/** Thinking that comes with its words, as models whose thinking may be read give it. */
export const saysItsThought = ({ type, content, encrypted_content: sealed }: JsonObject): boolean =>
  type === 'reasoning' && textIn(sealed) === null && objectsIn(content).some(({ text }) => textIn(text) !== null);

/**
 * Thinking, or a summary, that comes without its content: a provider looks it up by its id among what it has stored,
 * whatever else the item says.
 */
export const isStoredThought = (item: JsonObject): boolean =>
  (item.type === 'reasoning' || item.type === 'compaction') &&
  textIn(item.id) !== null &&
  textIn(item.encrypted_content) === null &&
  !saysItsThought(item);

/** Approvals of calls that this input does not hold: their places, and the ids that they name. */
export function unaskedApprovals(input: readonly JsonValue[]): { readonly at: number; readonly id: JsonValue }[] {
  const asked = new Set<JsonValue>();
  const found: { at: number; id: JsonValue }[] = [];
  for (const [at, item] of input.entries()) {
    if (!isObject(item)) continue;
    const { type, id = null, approval_request_id: approved = null } = item;
    if (type === 'mcp_approval_request') asked.add(id);
    if (type === 'mcp_approval_response' && approved !== null && !asked.has(approved)) found.push({ at, id: approved });
  }
  return found;
}

const nouns: Readonly<Record<KeptKind, string>> = {
  response: 'Response',
  item: 'Item',
  container: 'Container',
  file: 'File',
  conversation: 'Conversation',
  audio: 'Audio',
  message: 'Message',
};

/** By which clients know what to do, where the kind alone does not say it. */
const codes: Partial<Record<KeptKind, string>> = { message: 'thread_not_found' };

const maxShown = 128;

/** Nothing is said of whether somebody else has it. `param`: null: it stands in the path. */
export function keptNotFound(kind: KeptKind, id: string, param: string | null): RelayError {
  const previous = param === 'previous_response_id';
  const what = previous ? 'Previous response' : nouns[kind];
  const code = previous ? 'previous_response_not_found' : (codes[kind] ?? `${kind}_not_found`);
  const message = `${what} with id '${id.slice(0, maxShown)}' not found.`;
  return new RelayError(404, code, message, { type: 'invalid_request_error', param });
}
