import { Failure } from '../../domain/kernel/failure.js';
import type { ApiKeyId } from '../../domain/kernel/ids.js';
import { isLike } from '../../domain/kernel/like.js';
import type { Actor } from '../../domain/user/user.js';
import type { Page, PageRequest, SearchStyle } from '../../projections/engine/page.js';
import {
  type ApiKeyFilter,
  type ApiKeyRow,
  allApiKeysOf,
  apiKeyById,
  apiKeyPage,
  apiKeyPageOf,
} from '../../projections/models/api-keys.js';
import { authorise } from '../authorise.js';
import type { Clock, EventStore, QuotaGate, Vault } from '../ports/storage-ports.js';
import { currentOf, type ReadingPorts } from '../viewer.js';
import { type BudgetedApiKey, withBudgets } from './budgets.js';
import { unlistedApiKey } from './unlisted-api-key.js';

/* Whoever owns an API key may read it; an administrator manages keys and does not use them. */

interface ApiKeyQueryPorts extends ReadingPorts {
  readonly clock: Clock;
  readonly store: Pick<EventStore, 'readStream'>;
  readonly vault: Vault;
  readonly gate: Pick<QuotaGate, 'remaining'>;
}

/** An API key with its text, without prefix; '' when the vault has lost it. */
export type ReadableApiKey = BudgetedApiKey & { readonly key: string };

export function apiKeyQueries({ clock, store, vault, gate, ...reading }: ApiKeyQueryPorts) {
  const current = currentOf(reading);

  const readable = async (rows: readonly ApiKeyRow[]): Promise<ReadableApiKey[]> => {
    const secrets = await vault.getMany(rows.map(({ secret }) => secret));
    const budgeted = await withBudgets(reading.db, rows, clock.now());
    return budgeted.map((row) => ({ ...row, key: secrets.get(row.secret) ?? '' }));
  };

  const listedOrNot = async (id: ApiKeyId): Promise<ApiKeyRow | undefined> =>
    (await apiKeyById(await current(), id)) ?? (await unlistedApiKey({ store, gate }, id));

  return {
    async apiKeys(viewer: Actor, request: PageRequest): Promise<Page<ReadableApiKey>> {
      const { items, count } = await apiKeyPageOf(await current(), viewer.id, request);
      return { items: await readable(items), count };
    },

    /** Own keys whose name contains `name` and whose text contains `key`, newest first. */
    async searchApiKeys(
      viewer: Actor,
      { name, key, wildcards = false }: { name: string; key: string } & SearchStyle,
    ): Promise<ReadableApiKey[]> {
      const own = await readable(await allApiKeysOf(await current(), viewer.id));
      const contains = (text: string, part: string): boolean =>
        wildcards ? isLike(text, `%${part}%`) : text.includes(part);
      return own.filter((row) => contains(row.name, name) && contains(row.key, key));
    },

    async apiKey(viewer: Actor, id: ApiKeyId): Promise<ReadableApiKey> {
      const row = await listedOrNot(id);
      if (row === undefined || row.owner_id !== viewer.id) throw new Failure('api-key-not-found');
      const [found] = await readable([row]);
      if (found === undefined) throw new Failure('api-key-not-found');
      return found;
    },

    /** Anybody's key, without its text. */
    async anyApiKey(viewer: Actor, id: ApiKeyId): Promise<BudgetedApiKey> {
      authorise(viewer, 'admin-reading');
      const row = await listedOrNot(id);
      if (row === undefined) throw new Failure('api-key-not-found');
      const [found] = await withBudgets(reading.db, [row], clock.now());
      if (found === undefined) throw new Failure('api-key-not-found');
      return found;
    },

    /** Everybody's keys, without their texts: an administrator manages keys, it does not use them. */
    async allApiKeys(
      viewer: Actor,
      request: PageRequest,
      filter: ApiKeyFilter & { key?: string },
    ): Promise<Page<BudgetedApiKey>> {
      authorise(viewer, 'admin-reading');
      const { key = '', ...rest } = filter;
      const db = await current();
      const page = await apiKeyPage(db, request, key === '' ? rest : { ...rest, keyHash: vault.hash(key) });
      return { ...page, items: await withBudgets(db, page.items, clock.now()) };
    },
  };
}
