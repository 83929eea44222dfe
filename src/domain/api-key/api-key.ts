import { isDeepStrictEqual } from 'node:util';
import type { Decider } from '../kernel/decider.js';
import { assertNever, Failure } from '../kernel/failure.js';
import type { SecretId, UserId } from '../kernel/ids.js';
import type { Instant } from '../kernel/instant.js';
import type { Quota } from '../kernel/quota.js';
import { type ApiKeyTerms, checkApiKeyTerms, completedTerms, type GivenApiKeyTerms } from './api-key-terms.js';

/* A caller's credential. Stream `apikey-{id}`. The legacy contract calls it a token. */

export type ApiKeyDisabledCause = 'manual' | 'expired' | 'exhausted';

export type ApiKeyEvent =
  | { type: 'ApiKeyIssued'; owner: UserId; keyHash: string; secret: SecretId; quota: Quota; terms: ApiKeyTerms }
  | { type: 'ApiKeyEdited'; owner: UserId; quotaDelta: Quota; terms: ApiKeyTerms }
  | { type: 'ApiKeyEnabled'; owner: UserId }
  | { type: 'ApiKeyDisabled'; owner: UserId; cause: ApiKeyDisabledCause }
  /** Disabled by an administrator. `name`: as its owner knew it then. */
  | { type: 'ApiKeyRevoked'; owner: UserId; by: UserId; name: string }
  | { type: 'ApiKeyDeleted'; owner: UserId };

export type ApiKeyCommand =
  | { type: 'IssueApiKey'; owner: UserId; keyHash: string; secret: SecretId; quota: Quota; terms: ApiKeyTerms }
  | {
      type: 'EditApiKey';
      owner: UserId;
      /** The new remainder minus the one observed, so charges that land meanwhile are not undone. */
      quotaDelta: Quota;
      terms: GivenApiKeyTerms;
    }
  | { type: 'EnableApiKey'; owner: UserId; at: Instant; remaining: Quota }
  | { type: 'DisableApiKey'; owner: UserId; cause: ApiKeyDisabledCause }
  /** Whosever it is: who may is not the key's to say. */
  | { type: 'RevokeApiKey'; by: UserId }
  | { type: 'DeleteApiKey'; owner: UserId };

export type ApiKey =
  | { status: 'absent' | 'deleted' }
  | { status: 'enabled' | ApiKeyDisabledCause; owner: UserId; terms: ApiKeyTerms };

type LiveApiKey = Exclude<ApiKey, { status: 'absent' | 'deleted' }>;

export const isLiveApiKey = (key: ApiKey): key is LiveApiKey => key.status !== 'absent' && key.status !== 'deleted';

const live = (key: ApiKey): LiveApiKey => {
  if (!isLiveApiKey(key)) throw new Failure('api-key-not-found');
  return key;
};

/** Somebody else's key is as good as none: its existence is not revealed. */
const owned = (key: ApiKey, owner: UserId): LiveApiKey => {
  const found = live(key);
  if (found.owner !== owner) throw new Failure('api-key-not-found');
  return found;
};

export const apiKeyDecider: Decider<ApiKey, ApiKeyCommand, ApiKeyEvent> = {
  initial: { status: 'absent' },
  decide(command, key) {
    switch (command.type) {
      case 'IssueApiKey': {
        if (key.status !== 'absent') return [];
        const { owner, keyHash, secret, quota, terms } = command;
        checkApiKeyTerms(terms, null);
        return [{ type: 'ApiKeyIssued', owner, keyHash, secret, quota, terms }];
      }
      case 'EditApiKey': {
        const { owner, quotaDelta } = command;
        const { terms: before } = owned(key, owner);
        const terms = completedTerms(command.terms, before);
        checkApiKeyTerms(terms, before);
        if (quotaDelta === 0 && isDeepStrictEqual(before, terms)) return [];
        return [{ type: 'ApiKeyEdited', owner, quotaDelta, terms }];
      }
      case 'EnableApiKey': {
        const { owner } = command;
        const { status, terms } = owned(key, owner);
        if (status === 'enabled') return [];
        if (status === 'expired' && terms.expiresAt !== null && terms.expiresAt <= command.at)
          throw new Failure('api-key-expired-enable');
        if (status === 'exhausted' && !terms.unlimited && command.remaining <= 0)
          throw new Failure('api-key-exhausted-enable');
        return [{ type: 'ApiKeyEnabled', owner }];
      }
      case 'DisableApiKey':
        return owned(key, command.owner).status === command.cause
          ? []
          : [{ type: 'ApiKeyDisabled', owner: command.owner, cause: command.cause }];
      case 'RevokeApiKey': {
        const { status, owner, terms } = live(key);
        return status === 'manual' ? [] : [{ type: 'ApiKeyRevoked', owner, by: command.by, name: terms.name }];
      }
      case 'DeleteApiKey':
        owned(key, command.owner);
        return [{ type: 'ApiKeyDeleted', owner: command.owner }];
      default:
        return assertNever(command);
    }
  },
  evolve(key, event) {
    switch (event.type) {
      case 'ApiKeyIssued':
        return { status: 'enabled', owner: event.owner, terms: event.terms };
      case 'ApiKeyEdited':
        return isLiveApiKey(key) ? { ...key, terms: event.terms } : key;
      case 'ApiKeyEnabled':
        return isLiveApiKey(key) ? { ...key, status: 'enabled' } : key;
      case 'ApiKeyDisabled':
        return isLiveApiKey(key) ? { ...key, status: event.cause } : key;
      case 'ApiKeyRevoked':
        return isLiveApiKey(key) ? { ...key, status: 'manual' } : key;
      case 'ApiKeyDeleted':
        return { status: 'deleted' };
      default:
        return assertNever(event);
    }
  },
};
