import { isCount, isList, isObject, type JsonObject, type JsonValue, textIn } from '../json/json.js';

/* What is to be ranked: documents, by how much each of them says about a query. Texts alone are taken. */

/** Of one request. No vendor takes more. */
const maxDocuments = 10_000;

/** A document is a text, or an object with its text; null: it is neither. */
const textOf = (document: JsonValue): string | null => {
  if (typeof document === 'string') return document;
  return isObject(document) && typeof document.text === 'string' ? document.text : null;
};

/** Of a body whose documents were looked at. */
export const textsOfDocuments = ({ documents }: JsonObject): readonly string[] =>
  isList(documents) ? documents.map((document) => textOf(document) ?? '') : [];

/** A member, what is wrong with it, and the code that names it. */
interface InvalidRerank {
  readonly code: string;
  readonly param: string;
  readonly message: string;
}

const invalidDocuments = (param: string, message: string): InvalidRerank => ({
  code: 'invalid_documents',
  param,
  message,
});

const invalid = (param: string, allowed: string): InvalidRerank => ({
  code: 'invalid_rerank_request',
  param,
  message: `${param} must be ${allowed}`,
});

function wrongDocuments(documents: JsonValue | undefined): InvalidRerank | null {
  if (!isList(documents) || documents.length === 0)
    return invalidDocuments('documents', 'field documents is required: a list of texts, or of objects with a text');
  if (documents.length > maxDocuments)
    return invalidDocuments('documents', `documents must be at most ${maxDocuments}`);
  const wrong = documents.findIndex((document) => textOf(document) === null);
  if (wrong < 0) return null;
  return invalidDocuments(`documents[${wrong}]`, `documents[${wrong}] must be a text, or an object with a text`);
}

/** Members that bound how a long document is read, by the names of several vendors. */
const lengths = ['max_tokens_per_doc', 'max_chunks_per_doc', 'max_chunk_per_doc', 'overlap_tokens'];

function wrongOption(body: JsonObject): InvalidRerank | null {
  const { top_n: top, return_documents: returned, rank_fields: fields, stream } = body;
  if ((top ?? null) !== null && !(isCount(top) && top >= 1 && top <= maxDocuments))
    return invalid('top_n', `an integer from 1 to ${maxDocuments}`);
  if ((returned ?? null) !== null && typeof returned !== 'boolean') return invalid('return_documents', 'true or false');
  // Of an object its text alone is read.
  if ((fields ?? null) !== null && !(isList(fields) && fields.length === 1 && fields[0] === 'text'))
    return invalid('rank_fields', 'the list ["text"]: other members of documents are not ranked by');
  if ((stream ?? null) !== null && stream !== false) return invalid('stream', 'false: a ranking has no stream');
  const wrong = lengths.find((name) => (body[name] ?? null) !== null && !isCount(body[name]));
  return wrong === undefined ? null : invalid(wrong, 'an integer from 0');
}

/** null: it can be taken. */
export function invalidRerank(body: JsonObject): InvalidRerank | null {
  const query = textIn(body.query);
  if (query === null || query.trim() === '')
    return { code: 'invalid_query', param: 'query', message: 'field query is required: a text that is not empty' };
  return wrongDocuments(body.documents) ?? wrongOption(body);
}
