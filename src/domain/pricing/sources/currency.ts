import type { Json } from './list-json.js';
import { UnusableEntry } from './published-price.js';

const members = ['currency', 'price_currency', 'pricing_currency'];

/** Throws UnusableEntry where the entry names another currency than US dollars. */
export function checkCurrency(entry: Json): void {
  for (const member of members) {
    const named = Object.hasOwn(entry, member) ? entry[member] : undefined;
    if (named === undefined || named === null) continue;
    if (typeof named !== 'string' || !/^(usd|us\$|\$)$/i.test(named)) throw new UnusableEntry('other-currency', member);
  }
}
