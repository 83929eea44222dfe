import type { ApiKeyView, UserView } from '../../application/ports/storage-ports.js';
import { failureCodeOf, isModelName } from '../../domain/call/call-texts.js';
import type { Refusal } from '../../domain/kernel/refusal.js';
import { clientNetwork } from '../../http/place.js';
import type { Endpoint } from '../contracts/endpoint.js';
import type { RelayError } from '../contracts/errors.js';
import { type Heartbeat, noHeartbeat } from '../delivery/heartbeats.js';

/** What is known of a call, more and more, until it is reserved. */
export interface KnownOfCall {
  user: UserView | null;
  apiKey: ApiKeyView | null;
  /** As its body names it, whatever that is. */
  model: unknown;
  /** One there is, that its body names in person; empty: none. */
  group: string;
  /** Its stream tells what becomes of it. */
  reserved: boolean;
  /** What fills the silence of its stream. */
  heartbeat: Heartbeat;
}

export const nothingKnown = (): KnownOfCall => ({
  user: null,
  apiKey: null,
  model: '',
  group: '',
  reserved: false,
  heartbeat: noHeartbeat,
});

/** What an API key's owner needs to know of an address that may not call. */
const aboutTheAddress = 'ip_not_allowed';

/** Of callers that nobody knows nothing is kept that they have chosen. */
const modelOf = (model: unknown): string => (typeof model === 'string' && isModelName(model) ? model : '');

export function refusedCall(
  { ip, endpoint }: { readonly ip: string; readonly endpoint: Pick<Endpoint, 'path'> },
  { user, apiKey, model, group: named }: KnownOfCall,
  error: RelayError,
): Refusal {
  const userId = user?.id ?? apiKey?.owner ?? null;
  const code = failureCodeOf(error.code) ?? 'unknown';
  const group = apiKey?.terms.group || named || user?.group || '';
  return {
    userId,
    apiKeyId: apiKey?.id ?? null,
    apiKeyName: apiKey?.terms.name ?? (user === null ? '' : `playground-${group}`),
    group,
    model: userId === null ? '' : modelOf(model),
    path: endpoint.path,
    status: error.status,
    code,
    network: userId === null || code === aboutTheAddress ? clientNetwork(ip) : null,
  };
}
