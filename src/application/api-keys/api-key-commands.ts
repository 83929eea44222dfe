import { type ApiKey, type ApiKeyCommand, type ApiKeyEvent, apiKeyDecider } from '../../domain/api-key/api-key.js';
import { checkApiKeyTerms, completedTerms, type GivenApiKeyTerms } from '../../domain/api-key/api-key-terms.js';
import { type Position, streams } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import { ApiKeyId, type SecretId } from '../../domain/kernel/ids.js';
import { minus, Quota, zero } from '../../domain/kernel/quota.js';
import type { Actor } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import { places } from '../bounded-counts.js';
import type { Handle } from '../handle.js';
import type { IdempotencyStore } from '../idempotency.js';
import { mustReach, type Tail } from '../memory/tail.js';
import type {
  ApiKeyCounts,
  Clock,
  Directory,
  Ids,
  QuotaGate,
  ReadModelProgress,
  Vault,
} from '../ports/storage-ports.js';
import { randomText } from '../random-text.js';

interface ApiKeyCommandPorts {
  readonly clock: Clock;
  readonly handle: Handle;
  readonly ids: Ids;
  readonly vault: Vault;
  readonly gate: QuotaGate;
  readonly tail: Pick<Tail, 'reached'>;
  readonly once: IdempotencyStore;
  readonly directory: Pick<Directory, 'settings'>;
  readonly apiKeyCounts: ApiKeyCounts;
  readonly progress: Pick<ReadModelProgress, 'reached'>;
}

export interface ApiKeyInput {
  readonly terms: GivenApiKeyTerms;
  /** What the key may spend; ignored for refusals when unlimited, still counted. */
  readonly quota: number;
}

interface ApiKeyChange extends Pick<ApiKeyInput, 'terms'> {
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

export type ApiKeyStatusChange = 'enabled' | 'manual' | 'expired' | 'exhausted';

/** Length of a key without its `sk-` prefix. No dash can occur: callers may append `-{channel id}`. */
const apiKeyLength = 48;

/** Half of what can be counted: what calls under way give back on top must still be countable. */
const maxAllowance = (Number.MAX_SAFE_INTEGER - 1) / 2;

function allowanceOf(quota: number, field = 'quota'): Quota {
  if (Math.abs(quota) > maxAllowance)
    throw new Failure('quota-out-of-range', { field, allowed: `an integer within ±${maxAllowance}` });
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

/** Longest a new key is watched on its way into the read model; later the next order of its owner finds it there. */
const countedTimeoutMs = 10_000;

export function apiKeyCommands(ports: ApiKeyCommandPorts) {
  const { clock, handle, ids, vault, gate, tail, once, directory, progress } = ports;
  const held = places(ports.apiKeyCounts, (most) => new Failure('too-many-api-keys', { allowed: most }));

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
    /**
     * `key` of the answer is without prefix. `orderKey`: the client's name for this order; a repeat answers with the
     * same API key.
     */
    async issue(
      actor: Actor,
      { terms: given, quota }: ApiKeyInput,
      orderKey: string | null = null,
    ): Promise<{ id: ApiKeyId; key: string; position: Position }> {
      const allowance = allowanceOf(quota);
      const terms = completedTerms(given, null);
      // Before a key is made: a refusal leaves nothing behind.
      checkApiKeyTerms(terms, null);
      const content = JSON.stringify(['issue api key', given, allowance]);
      return once({ actor: actor.id, key: orderKey, content }, async ({ name, mark }) => {
        const id = ApiKeyId(await ids.allotted('api-key', name));
        const key = randomText(apiKeyLength);
        let secret = null as SecretId | null;
        /** Not asked of a repeat: it takes no place, and leaves nothing in the vault. */
        const issuing = async (): Promise<ApiKeyCommand> => {
          await held.take(actor.id, id, directory.settings().maxApiKeys);
          secret ??= await vault.put(key);
          return { type: 'IssueApiKey', owner: actor.id, keyHash: vault.hash(key), secret, quota: allowance, terms };
        };
        const marked = mark(streams.apiKey(id));
        const { events, position } = await handle<ApiKey, ApiKeyCommand, ApiKeyEvent>(
          apiKeyDecider,
          streams.apiKey(id),
          issuing,
          marked,
        ).catch((error) => {
          held.leave(actor.id, id);
          throw error;
        });
        void progress
          .reached(position, countedTimeoutMs, ['api_keys'])
          .then((counted) => counted && held.leave(actor.id, id));
        const [issued] = events;
        if (issued?.type !== 'ApiKeyIssued' || issued.secret === secret) return { id, key, position };
        // A repeat: the key is the one the order has led to before.
        if (secret !== null) await vault.drop([secret]);
        const before = await vault.get(issued.secret);
        if (before === null) throw new Failure('api-key-not-found');
        return { id, key: before, position };
      });
    },

    /** Writes the terms and what remains; the status stays. */
    async edit(
      actor: Actor,
      id: ApiKeyId,
      { terms, quota, shownQuota = null, readQuota = null }: ApiKeyChange,
      orderKey: string | null = null,
    ): Promise<Position> {
      const allowance = quota === null ? null : allowanceOf(quota);
      const shown = shownQuota === null ? null : allowanceOf(shownQuota, 'shownQuota');
      const before = shown ?? (readQuota === null ? null : allowanceOf(readQuota, 'shownQuota'));
      const content = JSON.stringify(['edit api key', id, terms, allowance, shown]);
      return once({ actor: actor.id, key: orderKey, content }, async ({ mark }) => {
        const editing = async (seen: Position): Promise<ApiKeyCommand> => {
          const remaining = allowance === null ? zero : await remainingAt(id, seen);
          const quotaDelta = allowance === null ? zero : minus(allowance, before ?? remaining);
          allowanceOf(remaining + quotaDelta);
          return { type: 'EditApiKey', owner: actor.id, quotaDelta, terms };
        };
        const { position } = await handle(apiKeyDecider, streams.apiKey(id), editing, mark(streams.apiKey(id)));
        return position;
      });
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

    /** Disables anybody's key, e.g. one that has leaked; its owner reads so in the log. For administrators. */
    async revoke(actor: Actor, id: ApiKeyId): Promise<Position> {
      authorise(actor, 'admin');
      const { position } = await handle(apiKeyDecider, streams.apiKey(id), { type: 'RevokeApiKey', by: actor.id });
      return position;
    },

    async remove(actor: Actor, id: ApiKeyId): Promise<Position> {
      const { position } = await handle(apiKeyDecider, streams.apiKey(id), { type: 'DeleteApiKey', owner: actor.id });
      return position;
    },
  };
}
