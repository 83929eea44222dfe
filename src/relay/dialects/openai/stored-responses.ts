import { RelayError } from '../../contracts/errors.js';
import type { ConversationMembers } from '../../contracts/stored-conversation.js';
import { jsonText } from '../../json/exact-number.js';
import { isObject, type JsonObject, objectsIn, parseJson, textIn } from '../../json/json.js';
import { isPortableItem, itemsText, withEarlierItems } from './input-items.js';
import { memberText } from './member-text.js';

/* Responses as the gateway stores them itself: where a body says so, and how they are shown to their user. */

const ended: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete']);
const endedStatus: ReadonlySet<unknown> = new Set(['completed', 'incomplete']);
const dataLine = '\ndata: ';

/** A stream's last event holds the response. */
function responseIn(last: string, streamed: boolean): string | null {
  if (!streamed) {
    const response = parseJson(last);
    return isObject(response) && endedStatus.has(response.status) ? last : null;
  }
  const text = last.slice(last.lastIndexOf(dataLine) + dataLine.length).trim();
  const value = parseJson(text);
  return isObject(value) && ended.has(value.type) && isObject(value.response)
    ? memberText({ text, value }, 'response')
    : null;
}

function outputItems(response: string): string {
  const value = parseJson(response);
  if (!isObject(value)) return '';
  const output = objectsIn(value.output);
  const portable = output.filter(isPortableItem);
  return portable.length === output.length
    ? memberText({ text: response, value }, 'output').slice(1, -1).trim()
    : portable.map((item) => jsonText(item)).join(',');
}

/** Messages as the API shows them: with an id, and their text as a part. */
function shown(id: string, item: JsonObject, at: number): JsonObject {
  const isMessage = (item.type ?? 'message') === 'message';
  const text = textIn(item.content);
  const part = { type: item.role === 'assistant' ? 'output_text' : 'input_text', text };
  return {
    ...item,
    id: textIn(item.id) ?? `${isMessage ? 'msg' : 'item'}_${id.replace(/^resp_/, '')}_in_${at}`,
    ...(isMessage && { type: 'message', ...(text !== null && { content: [part] }) }),
  };
}

const usualLimit = 20;
const maxLimit = 100;

const invalid = (param: string, message: string): RelayError =>
  new RelayError(400, 'invalid_request', message, { type: 'invalid_request_error', param });

function page(id: string, items: readonly JsonObject[], query: URLSearchParams): JsonObject {
  const limit = query.get('limit') ?? String(usualLimit);
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > maxLimit)
    throw invalid('limit', `limit must be a number from 1 to ${maxLimit}`);
  const order = query.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc') throw invalid('order', 'order must be asc or desc');
  const all = items.map((item, at) => shown(id, item, at));
  if (order === 'desc') all.reverse();
  const after = query.get('after');
  const from = after === null ? 0 : all.findIndex((item) => item.id === after) + 1;
  if (after !== null && from === 0) throw invalid('after', 'after must be the id of an item of this list');
  const data = all.slice(from, from + Number(limit));
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: from + data.length < all.length,
  };
}

export const responsesConversation: ConversationMembers = {
  previous: ({ previous_response_id: previous }) => textIn(previous),
  stores: ({ store }) => (store ?? true) === true,
  withoutStore: ({ store: _, ...others }) => others,
  items: itemsText,
  continued: withEarlierItems,
  responseIn,
  outputItems,
  page,
  deleted: (id) => ({ id, object: 'response', deleted: true }),
};
