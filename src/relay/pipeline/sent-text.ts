import type { Endpoint } from '../contracts/endpoint.js';
import type { HeldBody } from '../contracts/ports.js';
import { exactly, outerBrackets } from '../json/exact-json.js';
import type { JsonObject } from '../json/json.js';
import type { JsonSource } from '../protocols/carried.js';

/* What a caller has sent, to be carried on: with its text, or with the digits of its numbers. */

export interface SentBody {
  /** null: it is no JSON. */
  readonly source: JsonSource | null;
  /** The body as it is served, made of what was sent. */
  readonly body: JsonObject;
  /** The same, its numbers with all digits: for who puts it into other words. */
  readonly exact: () => JsonObject;
}

/** `served`: what is served of a body. */
export function sentBody(
  { text, value }: Pick<HeldBody, 'text' | 'value'>,
  served: (body: JsonObject) => JsonObject,
): SentBody {
  const body = served(value);
  if (text === undefined) return { source: null, body, exact: () => body };
  return { source: { text, value }, body, exact: () => served(exactly(text, value, outerBrackets)) };
}

/** The model that address or endpoint name; null: the body names it. Throws RelayError. */
export const modelAsked = (
  { endpoint, model }: { readonly endpoint: Pick<Endpoint, 'modelOf'>; readonly model: string | null },
  body: JsonObject,
): string | null => model ?? endpoint.modelOf?.(body) ?? null;

/** The body with the model that the address names; null: the body names it. */
export const named = (body: JsonObject, model: string | null): JsonObject =>
  model === null ? body : { ...body, model };
