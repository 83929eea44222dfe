import type { Moment } from '../../domain/events/moment.js';
import type { ApiKeyId, ChannelId, UserId } from '../../domain/kernel/ids.js';
import type { Actor } from '../../domain/user/user.js';
import { optionHistory } from '../../projections/models/option-history.js';
import { priceHistory } from '../../projections/models/price-history.js';
import { quotaHistory } from '../../projections/models/quota-history/quota-history.js';
import { authorise } from '../authorise.js';
import { type ConsistencyPorts, waitForHead } from '../consistency.js';
import { type PriceAt, priceAt } from './price-at.js';
import {
  type ApiKeyAt,
  type AuditedStore,
  apiKeyAt,
  type ChannelAt,
  channelAt,
  type UserAt,
  userAt,
} from './things-at.js';

/* What something was, for a viewer. All throw `store-unavailable` while what they read is being built anew. */

interface AsOfPorts extends ConsistencyPorts, AuditedStore {}

export function asOfQueries({ db, store, ...reading }: AsOfPorts) {
  const stored = { db, store };
  return {
    async channelAt(viewer: Actor, id: ChannelId, moment: Moment): Promise<ChannelAt | null> {
      authorise(viewer, 'admin-reading');
      await waitForHead(reading, [quotaHistory.name]);
      return channelAt(stored, id, moment);
    },

    /** Users see their own. */
    async apiKeyAt(viewer: Actor, id: ApiKeyId, moment: Moment): Promise<ApiKeyAt | null> {
      await waitForHead(reading, [quotaHistory.name]);
      const found = await apiKeyAt(stored, id, moment);
      if (found?.ownerId !== viewer.id) authorise(viewer, 'admin-reading');
      return found;
    },

    /** Users see themselves. */
    async userAt(viewer: Actor, id: UserId, moment: Moment): Promise<UserAt | null> {
      if (id !== viewer.id) authorise(viewer, 'admin-reading');
      await waitForHead(reading, [quotaHistory.name]);
      return userAt(stored, id, moment);
    },

    async priceAt(viewer: Actor, asked: { model: string; group: string }, moment: Moment): Promise<PriceAt> {
      authorise(viewer, 'root-reading');
      await waitForHead(reading, [optionHistory.name, priceHistory.name, quotaHistory.name]);
      return priceAt(db, asked, moment);
    },
  };
}
