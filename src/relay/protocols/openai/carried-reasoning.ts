import { parseExactly } from '../../json/exact-json.js';
import { jsonText } from '../../json/exact-number.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';

/*
 * What an upstream without Responses wants to be shown again of its reasoning. It rides in the encrypted content of items,
 * which clients return as they came, and which OpenAI itself would refuse: it is known by its seal.
 */

const seal = 'tallygate-reasoning-v1:';
const sealBeginning = Buffer.from(seal.slice(0, 21)).toString('base64');

export interface CarriedReasoning {
  /** The member that it came in. */
  readonly member?: 'reasoning' | 'reasoning_content';
  readonly text?: string;
  /** Neutral details. Those whose text is the one above are without it. */
  readonly details?: readonly JsonObject[];
  /** The id of a call, and the members of the call beyond the usual ones. */
  readonly call?: string;
  readonly extraContent?: JsonObject;
}

export const sealedReasoning = (carried: CarriedReasoning): string =>
  Buffer.from(seal + jsonText(carried)).toString('base64');

const isSealed = (text: string): boolean => text.startsWith(sealBeginning);

/** null: it is none of ours. Without members: it cannot be read. */
export function openedReasoning(sealed: string): CarriedReasoning | null {
  if (!isSealed(sealed)) return null;
  const opened = Buffer.from(sealed, 'base64').toString('utf8');
  const carried = opened.startsWith(seal) ? parseExactly(opened.slice(seal.length)) : null;
  if (!isObject(carried)) return {};
  const { member, text, details, call, extraContent } = carried;
  return {
    ...((member === 'reasoning' || member === 'reasoning_content') && { member }),
    ...(typeof text === 'string' && { text }),
    ...(isList(details) && { details: objectsIn(details) }),
    ...(typeof call === 'string' && { call }),
    ...(isObject(extraContent) && { extraContent }),
  };
}

const isMadeHere = (item: JsonValue): boolean =>
  isObject(item) && item.type === 'reasoning' && isSealed(textIn(item.encrypted_content) ?? '');

/** Input for an upstream that has Responses, without items made here for another. The same where there are none. */
export function withoutCarriedReasoning(input: JsonValue | undefined): JsonValue | undefined {
  return isList(input) && input.some(isMadeHere) ? input.filter((item) => !isMadeHere(item)) : input;
}
