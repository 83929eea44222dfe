import { priceOf } from '../../domain/price-tables.js';
import type { Price } from '../../domain/pricing.js';
import type { Directory } from '../ports.js';

/* What can be bought: every model some channel serves, its price, and the groups it is served for. */

export interface PricedModel {
  readonly model: string;
  /** For a group whose ratio is 1. Models without a price show what they would cost where they are accepted. */
  readonly price: Price;
  readonly groups: readonly string[];
}

/** Sorted by model. */
export function priceList(directory: Directory): PricedModel[] {
  const groupsOf = new Map<string, Set<string>>();
  for (const { settings } of directory.serving()) {
    for (const model of settings.models) {
      const groups = groupsOf.get(model) ?? new Set();
      for (const group of settings.groups) groups.add(group);
      groupsOf.set(model, groups);
    }
  }
  const { prices } = directory.settings();
  const plain = { ...prices, groupRatio: new Map<string, string>() };
  return [...groupsOf]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([model, groups]) => {
      const price = priceOf(plain, model, '', true);
      return price === null ? [] : [{ model, price, groups: [...groups].sort() }];
    });
}
