import { type ApiKeyCommand, apiKeyDecider } from '../domain/api-key.js';
import { type ApiKeyTerms, checkApiKeyTerms } from '../domain/api-key-terms.js';
import { type Position, streams } from '../domain/events.js';
import { Failure } from '../domain/failure.js';
import { ApiKeyId } from '../domain/ids.js';
import { minus, Quota, zero } from '../domain/quota.js';
import type { Actor } from '../domain/user.js';
import type { Handle } from './handle.js';
import type { Clock, Ids, QuotaGate, Vault } from './ports.js';
import { randomText } from './random-text.js';
import { mustReach, type Tail } from './tail.js';

export interface ApiKeyCommandPorts {
  readonly clock: Clock;
  readonly handle: Handle;
  readonly ids: Ids;
  readonly vault: Vault;
  readonly gate: QuotaGate;
  readonly tail: Pick<Tail, 'reached'>;
}

export interface ApiKeyInput {
  readonly terms: ApiKeyTerms;
  /** What the key may spend; ignored for refusals when unlimited, still counted. */
  readonly quota: number;
}

export type ApiKeyStatusChange = 'enabled' | 'manual' | 'expired' | 'exhausted';

/** Length of a key without its `sk-` prefix. No dash can occur: callers may append `-{channel id}`. */
export const apiKeyLength = 48;

/** Half of what can be counted: what calls under way give back on top must still be countable. */
const maxAllowance = (Number.MAX_SAFE_INTEGER - 1) / 2;

function allowanceOf(quota: number): Quota {
  if (Math.abs(quota) > maxAllowance)
    throw new Failure('quota-out-of-range', { field: 'quota', allowed: `an integer within ±${maxAllowance}` });
  return Quota(quota);
}

/** Decides as the key does and records nothing. */
const enableRehearsal: typeof apiKeyDecider = {
  ...apiKeyDecider,
  decide(command, key) {
    apiKeyDecider.decide(command, key);
    return [];
  },
};

export function apiKeyCommands({ clock, handle, ids, vault, gate, tail }: ApiKeyCommandPorts) {
  /** What the key may still spend, as of a position or later. */
  const remainingAt = async (id: ApiKeyId, position: Position): Promise<Quota> => {
    await mustReach(tail, position);
    return gate.remaining(id);
  };

  const enabling =
    (actor: Actor, id: ApiKeyId) =>
    async (seen: Position): Promise<ApiKeyCommand> => ({
      type: 'EnableApiKey',
      owner: actor.id,
      at: clock.now(),
      remaining: await remainingAt(id, seen),
    });

  return {
    /** `key` is without prefix. */
    async issue(
      actor: Actor,
      { terms, quota }: ApiKeyInput,
    ): Promise<{ id: ApiKeyId; key: string; position: Position }> {
      const allowance = allowanceOf(quota);
      // Before a key is made: a refusal leaves nothing behind.
      checkApiKeyTerms(terms, null);
      const id = ApiKeyId(await ids.next('api-key'));
      const key = randomText(apiKeyLength);
      const { position } = await handle(apiKeyDecider, streams.apiKey(id), {
        type: 'IssueApiKey',
        owner: actor.id,
        keyHash: vault.hash(key),
        secret: await vault.put(key),
        quota: allowance,
        terms,
      });
      return { id, key, position };
    },

    /** Writes the terms and what remains (null: as it is); the status stays. */
    async edit(
      actor: Actor,
      id: ApiKeyId,
      { terms, quota }: Pick<ApiKeyInput, 'terms'> & { readonly quota: number | null },
    ): Promise<Position> {
      const allowance = quota === null ? null : allowanceOf(quota);
      const { position } = await handle(apiKeyDecider, streams.apiKey(id), async (seen) => ({
        type: 'EditApiKey',
        owner: actor.id,
        quotaDelta: allowance === null ? zero : minus(allowance, await remainingAt(id, seen)),
        terms,
      }));
      return position;
    },

    /** Refuses what `setStatus(…, 'enabled')` would refuse, and changes nothing. */
    async checkEnable(actor: Actor, id: ApiKeyId): Promise<void> {
      await handle(enableRehearsal, streams.apiKey(id), enabling(actor, id));
    },

    async setStatus(actor: Actor, id: ApiKeyId, status: ApiKeyStatusChange): Promise<Position> {
      const { position } = await handle(
        apiKeyDecider,
        streams.apiKey(id),
        status === 'enabled' ? enabling(actor, id) : { type: 'DisableApiKey', owner: actor.id, cause: status },
      );
      return position;
    },

    async remove(actor: Actor, id: ApiKeyId): Promise<Position> {
      const { position } = await handle(apiKeyDecider, streams.apiKey(id), { type: 'DeleteApiKey', owner: actor.id });
      return position;
    },
  };
}

export type ApiKeyCommands = ReturnType<typeof apiKeyCommands>;
