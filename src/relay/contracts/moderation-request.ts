import { isList, isObject, type JsonValue, textIn } from '../json/json.js';

/*
 * What is to be judged: a text, texts that are judged one by one, or the parts of one input, which are texts and
 * pictures.
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

/** Of a body's `input`; null: it can be taken. */
export function invalidModeration(input: JsonValue | undefined): InvalidInput | null {
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
  if (!isList(input)) return 1;
  return typeof input[0] === 'string' ? input.length : null;
};
