import type { JsonObject, JsonValue } from '../json/json.js';
import { textIn } from '../json/json.js';

/* Tiers of service, as callers ask for them, requests carry them and answers report them. */

/** What a body asks for that is not the usual tier. */
export interface ServiceAsked {
  /** By the members that ask. Empty: none does. */
  readonly tiers: readonly { readonly param: string; readonly tier: JsonValue }[];
  /** The account may serve it at another tier by itself. */
  readonly leftToAccount: boolean;
}

const leftOpen: ServiceAsked = { tiers: [], leftToAccount: true };
const usual: ServiceAsked = { tiers: [], leftToAccount: false };

/** By members that each ask for a tier. `open`: values that leave it to the account; `plain`: that ask for the usual one. */
export const serviceAsked =
  (params: readonly string[], open: ReadonlySet<JsonValue>, plain: ReadonlySet<JsonValue>) =>
  (body: JsonObject): ServiceAsked => {
    let asked: { param: string; tier: JsonValue }[] | null = null;
    let isPlain = false;
    for (const param of params) {
      const tier = body[param] ?? null;
      if (tier === null || open.has(tier)) continue;
      if (plain.has(tier)) isPlain = true;
      else {
        asked ??= [];
        asked.push({ param, tier });
      }
    }
    if (asked !== null) return { tiers: asked, leftToAccount: false };
    return isPlain ? usual : leftOpen;
  };

/**
 * How a request that goes upstream names its tier. `asked`: the one its caller asked for; `overridden`: an operator's
 * own, for which the price of the model is meant. undefined: it names none.
 */
export type ServiceSent = 'asked' | 'overridden' | undefined;

const maxTierLength = 64;

/** The tier that an answer reports; undefined: none. */
export function reportedTier(value: JsonValue | undefined): string | undefined {
  const text = textIn(value);
  return text === null || text.length > maxTierLength ? undefined : text.toLowerCase();
}
