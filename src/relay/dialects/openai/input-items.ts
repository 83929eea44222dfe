import { RelayError } from '../../contracts/errors.js';
import { saysItsThought } from '../../contracts/kept-ids.js';
import { isList, type JsonObject, type JsonValue, parseJson, textIn } from '../../json/json.js';
import { carried, type JsonSource } from '../../protocols/carried.js';
import { memberText } from './member-text.js';

/* The input of a response as a list of items, to which items of earlier turns can be added. */

/** The items as JSON with commas between them. A text is one message of the user. */
export function itemsText(source: JsonSource): string {
  const { input } = source.value;
  if (input === undefined || input === null) return '';
  const text = memberText(source, 'input');
  if (typeof input === 'string') return `{"type":"message","role":"user","content":${text}}`;
  return isList(input) ? text.slice(1, -1).trim() : '';
}

const itemsIn = (input: JsonValue | undefined): readonly JsonValue[] => {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }];
  return isList(input) ? input : [];
};

export const joinedItems = (...texts: readonly string[]): string => texts.filter((text) => text !== '').join(',');

/** Whether it can be sent again: thinking without its content is known by an id alone, which nobody has stored. */
export const isPortableItem = (item: JsonObject): boolean =>
  item.type !== 'reasoning' || textIn(item.encrypted_content) !== null || saysItsThought(item);

/** The request with items of earlier turns before its own, in place of the id that names them. Throws RelayError. */
export function withEarlierItems(request: JsonSource, earlier: string): JsonSource {
  const { input, previous_response_id: _named, ...rest } = request.value;
  const text = carried(request, rest);
  const before = parseJson(`[${earlier}]`);
  if (!isList(before))
    throw new RelayError(400, 'invalid_request', 'what was said before cannot be read', {
      param: 'previous_response_id',
    });
  const end = text.lastIndexOf('}');
  const comma = Object.keys(rest).length === 0 ? '' : ',';
  return {
    text: `${text.slice(0, end)}${comma}"input":[${joinedItems(earlier, itemsText(request))}]}`,
    value: { ...rest, input: [...before, ...itemsIn(input)] },
  };
}
