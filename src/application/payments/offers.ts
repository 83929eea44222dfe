import type { ProviderTable } from '../../domain/channel/provider.js';
import { Failure, invalidField } from '../../domain/kernel/failure.js';
import { groupRatioOf, priceOf } from '../../domain/pricing/price-tables.js';
import type { Actor } from '../../domain/user/user.js';
import type { Page } from '../../projections/engine/page.js';
import { authorise } from '../authorise.js';
import type { NodeDirectory } from '../memory/directory.js';
import type { UserView } from '../ports/storage-ports.js';
import {
  type OfferedModel,
  type PricedModel,
  type PriceListRequest,
  priceList,
  pricesFor,
} from '../prices/price-list.js';

/* What there is to be had: models, groups, prices. */

interface OfferQueryPorts {
  readonly directory: NodeDirectory;
  readonly providers: ProviderTable;
}

export interface UsableGroup {
  readonly name: string;
  /** Decimal text. */
  readonly ratio: string;
  readonly description: string;
}

/** The groups somebody may choose among. */
export interface PriceGroups {
  /** That calls are made for unless another one is chosen. It may be retired: then it is none to choose. */
  readonly own: string;
  readonly usable: readonly UsableGroup[];
}

const ownGroupDescription = '用户分组';
/** The group of whoever is not signed in. */
const publicGroup = 'default';

export function offerQueries({ directory, providers }: OfferQueryPorts) {
  const usableGroups = (group: string): UsableGroup[] => {
    const { prices, usableGroups } = directory.settings();
    const names = new Set([...usableGroups.keys(), group]);
    return [...names]
      .filter((name) => prices.groupRatio.has(name))
      .map((name) => ({
        name,
        ratio: groupRatioOf(prices, name),
        description: usableGroups.get(name) ?? ownGroupDescription,
      }));
  };

  const groupOf = async ({ id }: Actor): Promise<string> => {
    const user = await directory.user(id);
    if (user === null) throw new Failure('user-not-found');
    return user.group;
  };

  const priceGroups = (viewer: UserView | null): PriceGroups => {
    const own = viewer?.group ?? publicGroup;
    return { own, usable: usableGroups(own) };
  };

  return {
    enabledModels(viewer: Actor): readonly string[] {
      authorise(viewer, 'admin-reading');
      return directory.models(null);
    },

    /** Enabled models that nobody has set a price for: calls of them are refused unless the caller takes any price. */
    unpricedModels(viewer: Actor): readonly string[] {
      authorise(viewer, 'root-reading');
      const { prices } = directory.settings();
      return directory.models(null).filter((model) => priceOf(prices, model, '', false) === null);
    },

    /** Models enabled in a group the viewer may use; `group` null: in any. Throws `invalid-field`. */
    async ownModels(viewer: Actor, group: string | null = null): Promise<readonly string[]> {
      const usable = usableGroups(await groupOf(viewer)).map(({ name }) => name);
      if (group !== null && !usable.includes(group)) throw invalidField('group', usable.join(', '));
      return directory.models(group === null ? usable : [group]);
    },

    async ownGroups(viewer: Actor): Promise<UsableGroup[]> {
      return usableGroups(await groupOf(viewer));
    },

    /** What somebody who is not signed in could use. */
    publicGroups: (): UsableGroup[] => usableGroups(publicGroup),

    /** Prices are public. */
    prices: (): readonly PricedModel[] => priceList(directory),

    /** null: nobody is signed in. */
    priceGroups,

    /** What a call for the group would cost; `group` null: for one's own. Throws `invalid-field`. */
    pricesFor(
      viewer: UserView | null,
      { group: chosen, ...request }: PriceListRequest & { readonly group: string | null },
    ): Page<OfferedModel> {
      const { own, usable } = priceGroups(viewer);
      const group = chosen ?? own;
      const groups = usable.map(({ name }) => name);
      if (chosen !== null && !groups.includes(chosen)) throw invalidField('group', groups.join(', '));
      const acceptsUnpriced = directory.settings().selfUseMode || (viewer?.acceptUnpricedModels ?? false);
      const buyer = { group, groups, acceptsUnpriced, seesProviders: viewer !== null };
      return pricesFor(buyer, request, directory, providers);
    },

    groupNames(viewer: Actor): string[] {
      authorise(viewer, 'admin-reading');
      return [...directory.settings().prices.groupRatio.keys()];
    },
  };
}
