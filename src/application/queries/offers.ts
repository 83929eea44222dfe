import { Failure } from '../../domain/failure.js';
import { groupRatioOf } from '../../domain/price-tables.js';
import type { Actor } from '../../domain/user.js';
import { authorise } from '../authorise.js';
import type { NodeDirectory } from '../memory/directory.js';
import { type PricedModel, priceList } from './price-list.js';

/* What there is to be had: models, groups, prices. */

export interface OfferQueryPorts {
  readonly directory: NodeDirectory;
}

export interface UsableGroup {
  readonly name: string;
  /** Decimal text. */
  readonly ratio: string;
  readonly description: string;
}

const ownGroupDescription = '用户分组';
/** The group of whoever is not signed in. */
const publicGroup = 'default';

export function offerQueries({ directory }: OfferQueryPorts) {
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

  return {
    enabledModels(viewer: Actor): readonly string[] {
      authorise(viewer, 'admin');
      return directory.models(null);
    },

    /** Models enabled in any group the viewer may use. */
    async ownModels(viewer: Actor): Promise<readonly string[]> {
      const group = await groupOf(viewer);
      return directory.models(usableGroups(group).map(({ name }) => name));
    },

    async ownGroups(viewer: Actor): Promise<UsableGroup[]> {
      return usableGroups(await groupOf(viewer));
    },

    /** What somebody who is not signed in could use. */
    publicGroups: (): UsableGroup[] => usableGroups(publicGroup),

    /** Quota can be bought: everything a payment needs has been filled in. */
    takesPayments(): boolean {
      const settings = directory.settings();
      const texts = [settings.text('PayAddress'), settings.text('EpayId')];
      return texts.every((text) => text !== '') && directory.optionSecret('EpayKey') !== null;
    },

    /** Prices are public. */
    prices: (): PricedModel[] => priceList(directory),

    groupNames(viewer: Actor): string[] {
      authorise(viewer, 'admin');
      return [...directory.settings().prices.groupRatio.keys()];
    },
  };
}
