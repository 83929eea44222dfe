import type { Application } from '../application/application.js';
import type { PricedModel } from '../application/options/price-list.js';
import type { UsableGroup } from '../application/payments/offers.js';
import { quantityRatio } from '../domain/pricing/rates.js';
import { sessionUser } from './session.js';
import type { Endpoints } from './wire/endpoints.js';
import { success } from './wire/envelope.js';

/* The public price list. */

const perUsage = 0;
const perCall = 1;

function legacyPrice({ model, price, groups }: PricedModel) {
  const shared = { model_name: model, owner_by: '', ...(groups.length === 0 ? {} : { enable_groups: groups }) };
  return price.per === 'call'
    ? {
        ...shared,
        quota_type: perCall,
        model_ratio: 0,
        model_price: Number(price.price),
        completion_ratio: 0,
        cache_ratio: 0,
        reasoning_ratio: 0,
      }
    : {
        ...shared,
        quota_type: perUsage,
        model_ratio: Number(price.model),
        model_price: 0,
        completion_ratio: Number(quantityRatio(price, 'output')),
        cache_ratio: Number(quantityRatio(price, 'cachedInput')),
        reasoning_ratio: Number(quantityRatio(price, 'reasoning')),
      };
}

const record = <Value>(groups: readonly UsableGroup[], value: (group: UsableGroup) => Value) =>
  Object.fromEntries(groups.map((group) => [group.name, value(group)]));

export function pricingEndpoints(endpoints: Endpoints, { identity, queries }: Application): void {
  // The cookie alone says who looks: the page is public, and signed-out clients send an id of -1.
  endpoints.open('GET', '/pricing', async ({ request }) => {
    const viewer = await sessionUser(identity, request);
    const groups = viewer === null ? queries.publicGroups() : await queries.ownGroups(viewer);
    return {
      ...success(queries.prices().map(legacyPrice)),
      group_ratio: record(groups, ({ ratio }) => Number(ratio)),
      usable_group: record(groups, ({ description }) => description),
    };
  });
}
