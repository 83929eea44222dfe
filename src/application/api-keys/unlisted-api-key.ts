import { streams } from '../../domain/events/events.js';
import type { ApiKeyId } from '../../domain/kernel/ids.js';
import { nearestQuota } from '../../domain/kernel/quota.js';
import { type ApiKeyRow, apiKeyInStream } from '../../projections/models/api-keys.js';
import type { EventStore, QuotaGate } from '../ports/storage-ports.js';

/**
 * A key the read model does not have, because it is stopped or far behind: from the key's own stream, so that
 * whoever has just been given one sees it all the same. When it was last used is not known. undefined: no such key.
 */
export async function unlistedApiKey(
  { store, gate }: { readonly store: Pick<EventStore, 'readStream'>; readonly gate: Pick<QuotaGate, 'remaining'> },
  id: ApiKeyId,
): Promise<ApiKeyRow | undefined> {
  const found = apiKeyInStream(await store.readStream(streams.apiKey(id)));
  if (found === undefined) return undefined;
  const remaining = await gate.remaining(id);
  const used = nearestQuota(found.given - BigInt(remaining));
  return { ...found.row, remain_quota: remaining, used_quota: used, accessed_at: null };
}
