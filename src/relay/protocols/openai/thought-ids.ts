import { createHash, randomBytes } from 'node:crypto';
import { saysItsThought } from '../../contracts/kept-ids.js';
import { isList, isObject, type JsonValue, textIn } from '../../json/json.js';

/*
 * Thinking that comes with its words is sent by these. Its id could be that of another caller's, which a provider would
 * look up in the account that all share. Some upstreams need one, so it gets another.
 */

/** Nobody outside this process can tell which ids come of it. */
const salt = randomBytes(16);

const otherId = (id: string): string => `rs_${createHash('sha256').update(salt).update(id).digest('hex').slice(0, 48)}`;

const isNamed = (item: JsonValue): boolean => isObject(item) && textIn(item.id) !== null && saysItsThought(item);

/** The input of a response. The same where there is none. */
export const withOtherThoughtIds = (input: JsonValue | undefined): JsonValue | undefined =>
  isList(input) && input.some(isNamed)
    ? input.map((item) => (isObject(item) && isNamed(item) ? { ...item, id: otherId(textIn(item.id) ?? '') } : item))
    : input;
