import type { Application } from '../application/application.js';
import type { UsableGroup } from '../application/payments/offers.js';
import type { PricedModel } from '../application/prices/price-list.js';
import { unixSeconds } from '../domain/kernel/instant.js';
import { priceMembers, serviceTierMembers } from './price-members.js';
import { sessionUser } from './session.js';
import type { Endpoints } from './wire/endpoints.js';
import { success } from './wire/envelope.js';

/* The public price list. */

const legacyPrice = ({ model, price, serviceTiers, coming, groups }: PricedModel) => ({
  model_name: model,
  owner_by: '',
  ...(groups.length === 0 ? {} : { enable_groups: groups }),
  ...priceMembers(price),
  ...serviceTierMembers(serviceTiers),
  ...(coming === null ? {} : { coming: comingMembers(coming) }),
});

/** A model that will have no price is listed, as one without is, by what it costs those who accept that. */
const comingMembers = ({ from, price, serviceTiers }: NonNullable<PricedModel['coming']>) => ({
  from: unixSeconds(from),
  ...(price === null ? {} : priceMembers(price)),
  ...serviceTierMembers(serviceTiers),
});

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
