import { type ApiKey, type ApiKeyCommand, type ApiKeyEvent, apiKeyDecider } from '../../domain/api-key/api-key.js';
import { checkApiKeyTerms, completedTerms, type GivenApiKeyTerms } from '../../domain/api-key/api-key-terms.js';
import { type Position, streams } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import { ApiKeyId, type SecretId } from '../../domain/kernel/ids.js';
import type { Actor } from '../../domain/user/user.js';
import type { OwnedSlots } from '../bounded-counts.js';
import type { Handle } from '../handle.js';
import type { IdempotencyStore } from '../idempotency.js';
import type { Directory, Ids, ReadModelProgress, Vault } from '../ports/storage-ports.js';
import { randomText } from '../random-text.js';
import { allowanceOf } from './allowance.js';

export interface IssueApiKeyPorts {
  readonly handle: Handle;
  readonly ids: Ids;
  readonly vault: Vault;
  readonly once: IdempotencyStore;
  readonly directory: Pick<Directory, 'settings'>;
  readonly progress: Pick<ReadModelProgress, 'reached'>;
}

export interface ApiKeyInput {
  readonly terms: GivenApiKeyTerms;
  /** What the key may spend; ignored for refusals when unlimited, still counted. */
  readonly quota: number;
}

interface ApiKeyOrder extends ApiKeyInput {
  /** The client's name for this order; a repeat answers with the same API key. null: it has none. */
  readonly orderKey: string | null;
}

interface IssuedApiKey {
  readonly id: ApiKeyId;
  /** Without prefix. */
  readonly key: string;
  readonly position: Position;
}

/** Length of a key without its `sk-` prefix. No dash can occur: callers may append `-{channel id}`. */
const apiKeyLength = 48;

/** Longest a new key is watched on its way into the read model; later the next order of its owner finds it there. */
const countedTimeoutMs = 10_000;

/** `owned`: counts the live keys of each owner. */
export async function issueApiKey(
  ports: IssueApiKeyPorts,
  owned: OwnedSlots<ApiKeyId>,
  actor: Actor,
  { terms: given, quota, orderKey }: ApiKeyOrder,
): Promise<IssuedApiKey> {
  const { handle, ids, vault, once, directory, progress } = ports;
  const allowance = allowanceOf(quota);
  const terms = completedTerms(given, null);
  // Before a key is made: a refusal leaves nothing behind.
  checkApiKeyTerms(terms, null);
  const content = JSON.stringify(['issue api key', given, allowance]);
  return once({ actor: actor.id, key: orderKey, content }, async ({ name, mark }) => {
    const id = ApiKeyId(await ids.allotted('api-key', name));
    const stream = streams.apiKey(id);
    const key = randomText(apiKeyLength);
    let secret = null as SecretId | null;
    /** Not asked of a repeat: it counts for nothing, and leaves nothing in the vault. */
    const issuing = async (): Promise<ApiKeyCommand> => {
      await owned.take(actor.id, id, directory.settings().maxApiKeys);
      secret ??= await vault.put(key);
      return { type: 'IssueApiKey', owner: actor.id, keyHash: vault.hash(key), secret, quota: allowance, terms };
    };
    const { events, position } = await handle
      .by(actor)<ApiKey, ApiKeyCommand, ApiKeyEvent>(apiKeyDecider, stream, issuing, mark(stream))
      .catch((error) => {
        owned.leave(actor.id, id);
        throw error;
      });
    void progress
      .reached(position, countedTimeoutMs, ['api_keys'])
      .then((counted) => counted && owned.leave(actor.id, id));
    const [issued] = events;
    if (issued?.type !== 'ApiKeyIssued' || issued.secret === secret) return { id, key, position };
    // A repeat: the key is the one the order has led to before.
    if (secret !== null) await vault.drop([secret]);
    const before = await vault.get(issued.secret);
    if (before === null) throw new Failure('api-key-not-found');
    return { id, key: before, position };
  });
}
