import { type ApiKeyCommand, apiKeyDecider } from '../../domain/api-key/api-key.js';
import type { GivenApiKeyTerms } from '../../domain/api-key/api-key-terms.js';
import { type Position, streams } from '../../domain/events/events.js';
import type { ApiKeyId } from '../../domain/kernel/ids.js';
import { minus, type Quota, zero } from '../../domain/kernel/quota.js';
import type { Actor } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import type { Handle, Observing } from '../handle.js';
import type { IdempotencyStore } from '../idempotency.js';
import { mustReach, type Tail } from '../memory/tail.js';
import type { Clock, QuotaGate } from '../ports/storage-ports.js';
import { allowanceOf } from './allowance.js';

interface RemainingQuotaPorts {
  readonly gate: Pick<QuotaGate, 'remaining'>;
  readonly tail: Pick<Tail, 'reached'>;
}

/** What the key may still spend, as of a position or later. */
async function remainingAt({ gate, tail }: RemainingQuotaPorts, id: ApiKeyId, position: Position): Promise<Quota> {
  await mustReach(tail, position);
  return gate.remaining(id);
}

export interface EditApiKeyPorts extends RemainingQuotaPorts {
  readonly handle: Handle;
  readonly once: IdempotencyStore;
}

export interface ApiKeyChange {
  readonly terms: GivenApiKeyTerms;
  /** null: as it is. */
  readonly quota: number | null;
  /** What the form showed: the change is the difference to it. Missing or null: the difference to what remains now. */
  readonly shownQuota?: number | null;
  /**
   * The same where the form does not say it: what its sender read last. It is not part of what is asked for, as the
   * repeat of an order may come after another reading.
   */
  readonly readQuota?: number | null;
}

/** Writes the terms and what remains; the status stays. */
export async function editApiKey(
  ports: EditApiKeyPorts,
  actor: Actor,
  id: ApiKeyId,
  { terms, quota, shownQuota = null, readQuota = null, orderKey }: ApiKeyChange & { readonly orderKey: string | null },
): Promise<Position> {
  const allowance = quota === null ? null : allowanceOf(quota);
  const shown = shownQuota === null ? null : allowanceOf(shownQuota, 'shownQuota');
  const before = shown ?? (readQuota === null ? null : allowanceOf(readQuota, 'shownQuota'));
  const content = JSON.stringify(['edit api key', id, terms, allowance, shown]);
  const stream = streams.apiKey(id);
  return ports.once({ actor: actor.id, key: orderKey, content }, async ({ mark }) => {
    const editing = async (seen: Position): Promise<ApiKeyCommand> => {
      const remaining = allowance === null ? zero : await remainingAt(ports, id, seen);
      const quotaDelta = allowance === null ? zero : minus(allowance, before ?? remaining);
      allowanceOf(remaining + quotaDelta);
      return { type: 'EditApiKey', owner: actor.id, quotaDelta, terms };
    };
    const { position } = await ports.handle.by(actor)(apiKeyDecider, stream, editing, mark(stream));
    return position;
  });
}

export interface ApiKeyStatusPorts extends RemainingQuotaPorts {
  readonly handle: Handle;
  readonly clock: Clock;
}

export type ApiKeyStatusChange = 'enabled' | 'manual' | 'expired' | 'exhausted';

const enabling =
  (ports: ApiKeyStatusPorts, actor: Actor, id: ApiKeyId): Observing<ApiKeyCommand> =>
  async (seen) => ({
    type: 'EnableApiKey',
    owner: actor.id,
    at: ports.clock.now(),
    remaining: await remainingAt(ports, id, seen),
  });

export async function setApiKeyStatus(
  ports: ApiKeyStatusPorts,
  actor: Actor,
  id: ApiKeyId,
  status: ApiKeyStatusChange,
): Promise<Position> {
  const { position } = await ports.handle.by(actor)(
    apiKeyDecider,
    streams.apiKey(id),
    status === 'enabled' ? enabling(ports, actor, id) : { type: 'DisableApiKey', owner: actor.id, cause: status },
  );
  return position;
}

/** Decides as the key does and records nothing. */
const enableRehearsal: typeof apiKeyDecider = {
  ...apiKeyDecider,
  decide(command, key) {
    apiKeyDecider.decide(command, key);
    return [];
  },
};

/** Refuses what `setApiKeyStatus(…, 'enabled')` would refuse, and changes nothing. */
export async function checkEnableApiKey(ports: ApiKeyStatusPorts, actor: Actor, id: ApiKeyId): Promise<void> {
  await ports.handle(enableRehearsal, streams.apiKey(id), enabling(ports, actor, id));
}

/** Disables anybody's key, e.g. one that has leaked; its owner reads so in the log. For administrators. */
export async function revokeApiKey(
  { handle }: { readonly handle: Handle },
  actor: Actor,
  id: ApiKeyId,
): Promise<Position> {
  authorise(actor, 'admin');
  const { position } = await handle.by(actor)(apiKeyDecider, streams.apiKey(id), {
    type: 'RevokeApiKey',
    by: actor.id,
  });
  return position;
}

export async function removeApiKey(
  { handle }: { readonly handle: Handle },
  actor: Actor,
  id: ApiKeyId,
): Promise<Position> {
  const { position } = await handle.by(actor)(apiKeyDecider, streams.apiKey(id), {
    type: 'DeleteApiKey',
    owner: actor.id,
  });
  return position;
}
