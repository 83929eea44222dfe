import type {
  ApiKeyView,
  Clock,
  Directory,
  QuotaGate,
  UserView,
  Vault,
} from '../../application/ports/storage-ports.js';
import type { ApiKeyId, UserId } from '../../domain/kernel/ids.js';
import { atLeast } from '../../domain/user/role.js';
import { rateLimitKey } from '../../http/client-network.js';
import type { Credential } from '../contracts/caller-dialect.js';
import { RelayError } from '../contracts/errors.js';
import { isAllowed } from './ip-allow-list.js';
import type { WrongKeys } from './wrong-keys.js';

/* Who calls: the API key's checks, in the order callers know. */

export interface ApiKeyStatusNotice {
  /** An enabled key was refused: its status must say why from now on. */
  refused(id: ApiKeyId, owner: UserId, cause: 'expired' | 'exhausted'): void;
}

interface AuthenticationPorts {
  readonly directory: Directory;
  readonly gate: Pick<QuotaGate, 'isSpent'>;
  readonly vault: Pick<Vault, 'hash'>;
  readonly clock: Clock;
  readonly wrongKeys: WrongKeys;
  readonly apiKeyStatus: ApiKeyStatusNotice;
}

export interface Caller {
  readonly user: UserView;
  /** null: the user calls in person, signed in to the console. */
  readonly apiKey: ApiKeyView | null;
  /** Text behind the key (`sk-<key>-<channel id>`); only admins get here with one. */
  readonly pinnedChannel: string | null;
}

const keyLength = 48;

const masked = (key: string): string => `sk-${key.slice(0, 3)}***${key.slice(-3)}`;

const exhausted = (key: string): RelayError =>
  new RelayError(401, 'token_exhausted', `the quota of token ${masked(key)} is used up`);
const expired = (): RelayError => new RelayError(401, 'token_expired', 'the token has expired');

/**
 * Every wrong key asks the database. A place that has shown many is not asked for any further, except for keys that are
 * known here: others at the same place go on working.
 */
async function lookUp(
  { directory, vault, wrongKeys }: AuthenticationPorts,
  key: string,
  address: string,
): Promise<ApiKeyView | null> {
  const hash = vault.hash(key);
  if (!directory.remembersApiKey(hash) && !(await wrongKeys.mayShow(rateLimitKey(address)))) throw tooManyWrong();
  const found = await directory.apiKey(hash);
  if (found === null) wrongKeys.shown(rateLimitKey(address));
  return found;
}

const tooManyWrong = (): RelayError =>
  new RelayError(429, 'rate_limit_exceeded', 'too many invalid tokens from this address', { retryAfter: '60' });

export function checkNotBanned({ status }: UserView): void {
  if (status !== 'enabled') throw new RelayError(403, 'user_banned', 'the user is banned');
}

/** What a caller shows. */
export interface Shown {
  /** null: none. */
  readonly credential: Credential | null;
  /** The client's address. */
  readonly ip: string;
}

/** A caller by an API key: never in person. */
export type KeyCaller = Caller & { readonly apiKey: ApiKeyView };

/** The API key that is shown. Throws RelayError: there is none, or nobody knows it. */
export async function findApiKey(ports: AuthenticationPorts, { credential, ip }: Shown): Promise<ApiKeyView> {
  if (credential === null) throw new RelayError(401, 'missing_api_key', 'no token was given');
  const { key } = credential;
  // The length is checked first: text of any other length cannot be a key and need not be looked up.
  const apiKey = key.length === keyLength ? await lookUp(ports, key, ip) : null;
  if (apiKey === null) throw new RelayError(401, 'invalid_api_key', 'invalid token');
  return apiKey;
}

function checkStatus({ status }: ApiKeyView, key: string, maySpend: boolean): void {
  switch (status) {
    case 'exhausted':
      if (!maySpend) break;
      throw exhausted(key);
    case 'expired':
      throw expired();
    case 'manual':
      throw new RelayError(401, 'token_disabled', 'the token is disabled');
    case 'enabled':
      break;
  }
}

/** The caller by an API key that was found for what is shown. Throws RelayError: the key may not be used so. */
export async function checkApiKey(
  { directory, gate, clock, apiKeyStatus }: AuthenticationPorts,
  { credential, ip }: Shown,
  apiKey: ApiKeyView,
  /** false: nothing is asked for that costs anything, so a key that is spent will do. */
  maySpend = true,
): Promise<KeyCaller> {
  const { key, pinnedChannel } = credential ?? { key: '', pinnedChannel: null };
  checkStatus(apiKey, key, maySpend);
  const { terms, owner, id } = apiKey;
  if (terms.expiresAt !== null && terms.expiresAt < clock.now()) {
    apiKeyStatus.refused(id, owner, 'expired');
    throw expired();
  }
  if (maySpend && !terms.unlimited && (await gate.isSpent(id))) {
    apiKeyStatus.refused(id, owner, 'exhausted');
    throw exhausted(key);
  }

  const user = await directory.user(owner);
  if (user === null) throw new RelayError(500, 'internal_error', 'the owner of the token could not be read');
  checkNotBanned(user);
  if (pinnedChannel !== null && !atLeast(user.role, 'admin'))
    throw new RelayError(403, 'channel_selection_forbidden', 'ordinary users may not choose a channel');
  if (!isAllowed(ip, terms.allowIps))
    throw new RelayError(403, 'ip_not_allowed', 'the client address is not in the allow list of the token');
  return { user, apiKey, pinnedChannel };
}

/** The caller by the API key that is shown. Throws RelayError. */
export const authenticate = async (ports: AuthenticationPorts, shown: Shown): Promise<KeyCaller> =>
  checkApiKey(ports, shown, await findApiKey(ports, shown));

/** The same for who only looks at what they have paid for: a key that is spent will do. Throws RelayError. */
export const authenticateOwner = async (ports: AuthenticationPorts, shown: Shown): Promise<KeyCaller> =>
  checkApiKey(ports, shown, await findApiKey(ports, shown), false);
