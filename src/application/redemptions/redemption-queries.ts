import { Failure } from '../../domain/kernel/failure.js';
import type { RedemptionId } from '../../domain/kernel/ids.js';
import type { Actor } from '../../domain/user/user.js';
import type { Page, PageRequest } from '../../projections/engine/page.js';
import {
  type RedemptionFilter,
  type RedemptionRow,
  redemptionById,
  redemptionPage,
} from '../../projections/models/redemptions.js';
import { authorise, mayDo } from '../authorise.js';
import type { Vault } from '../ports/storage-ports.js';
import { currentOf, type ReadingPorts } from '../viewer.js';

interface RedemptionQueryPorts extends ReadingPorts {
  readonly vault: Pick<Vault, 'getMany'>;
}

/** A code with its text; '' when the vault has lost it. */
export type ReadableRedemption = RedemptionRow & { readonly code: string };

/** For administrators: who gives codes away must be able to read them. */
export function redemptionQueries({ vault, ...reading }: RedemptionQueryPorts) {
  const current = currentOf(reading);

  /** Whoever gives codes out reads them; an auditor does not. */
  const readable = async (viewer: Actor, rows: readonly RedemptionRow[]): Promise<ReadableRedemption[]> => {
    if (!mayDo(viewer, 'admin')) return rows.map((row) => ({ ...row, code: '' }));
    const texts = await vault.getMany(rows.map(({ secret }) => secret));
    return rows.map((row) => ({ ...row, code: texts.get(row.secret) ?? '' }));
  };

  return {
    async redemptions(
      viewer: Actor,
      request: PageRequest,
      filter: RedemptionFilter = {},
    ): Promise<Page<ReadableRedemption>> {
      authorise(viewer, 'admin-reading');
      const { items, count } = await redemptionPage(await current(), request, filter);
      return { items: await readable(viewer, items), count };
    },

    async redemption(viewer: Actor, id: RedemptionId): Promise<ReadableRedemption> {
      authorise(viewer, 'admin-reading');
      const row = await redemptionById(await current(), id);
      const [found] = row === undefined ? [] : await readable(viewer, [row]);
      if (found === undefined) throw new Failure('redemption-not-found');
      return found;
    },
  };
}
