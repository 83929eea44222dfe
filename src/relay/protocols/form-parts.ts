import { jsonText } from '../json/exact-number.js';
import { isList, type JsonObject, type JsonValue } from '../json/json.js';
import type { FormFile, FormPart } from '../upstream/request-content.js';

/* A body as the parts of a form. */

const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : jsonText(value));

/** Each member as text, each item of a list as a part of its own, then the files. */
export function formParts(body: JsonObject, files: readonly FormFile[]): FormPart[] {
  const parts: FormPart[] = [];
  for (const [name, value] of Object.entries(body))
    for (const item of isList(value) ? value : [value])
      if (item !== undefined && item !== null) parts.push({ name, text: textOf(item) });
  return [...parts, ...files];
}
