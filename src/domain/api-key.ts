import { isDeepStrictEqual } from 'node:util';
import { type ApiKeyTerms, checkApiKeyTerms, completedTerms, type GivenApiKeyTerms } from './api-key-terms.js';
import type { Decider } from './decider.js';
import { assertNever, Failure } from './failure.js';
import type { SecretId, UserId } from './ids.js';
import type { Instant } from './instant.js';
import type { Quota } from './quota.js';

/* A caller's credential. Stream `apikey-{id}`. The legacy contract calls it a token. */

export type ApiKeyDisabledCause = 'manual' | 'expired' | 'exhausted';

export type ApiKeyEvent =
  | { type: 'ApiKeyIssued'; owner: UserId; keyHash: string; secret: SecretId; quota: Quota; terms: ApiKeyTerms }
  | { type: 'ApiKeyEdited'; owner: UserId; quotaDelta: Quota; terms: ApiKeyTerms }
  | { type: 'ApiKeyEnabled'; owner: UserId }
  | { type: 'ApiKeyDisabled'; owner: UserId; cause: ApiKeyDisabledCause }
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
  | { type: 'DeleteApiKey'; owner: UserId };

export type ApiKey =
  | { status: 'absent' | 'deleted' }
  | { status: 'enabled' | ApiKeyDisabledCause; owner: UserId; terms: ApiKeyTerms };

type LiveApiKey = Exclude<ApiKey, { status: 'absent' | 'deleted' }>;

export const isLiveApiKey = (key: ApiKey): key is LiveApiKey => key.status !== 'absent' && key.status !== 'deleted';

/** Somebody else's key is as good as none: its existence is not revealed. */
const owned = (key: ApiKey, owner: UserId): LiveApiKey => {
  if (!isLiveApiKey(key) || key.owner !== owner) throw new Failure('api-key-not-found');
  return key;
};

export const apiKeyDecider: Decider<ApiKey, ApiKeyCommand, ApiKeyEvent> = {
  initial: { status: 'absent' },
  decide(command, key) {
    const { owner } = command;
    switch (command.type) {
      case 'IssueApiKey': {
        if (key.status !== 'absent') return [];
        const { keyHash, secret, quota, terms } = command;
        checkApiKeyTerms(terms, null);
        return [{ type: 'ApiKeyIssued', owner, keyHash, secret, quota, terms }];
      }
      case 'EditApiKey': {
        const { terms: before } = owned(key, owner);
        const { quotaDelta } = command;
        const terms = completedTerms(command.terms, before);
        checkApiKeyTerms(terms, before);
        if (quotaDelta === 0 && isDeepStrictEqual(before, terms)) return [];
        return [{ type: 'ApiKeyEdited', owner, quotaDelta, terms }];
      }
      case 'EnableApiKey': {
        const { status, terms } = owned(key, owner);
        if (status === 'enabled') return [];
        if (status === 'expired' && terms.expiresAt !== null && terms.expiresAt <= command.at)
          throw new Failure('api-key-expired-enable');
        if (status === 'exhausted' && !terms.unlimited && command.remaining <= 0)
          throw new Failure('api-key-exhausted-enable');
        return [{ type: 'ApiKeyEnabled', owner }];
      }
      case 'DisableApiKey':
        return owned(key, owner).status === command.cause
          ? []
          : [{ type: 'ApiKeyDisabled', owner, cause: command.cause }];
      case 'DeleteApiKey':
        owned(key, owner);
        return [{ type: 'ApiKeyDeleted', owner }];
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
      case 'ApiKeyDeleted':
        return { status: 'deleted' };
      default:
        return assertNever(event);
    }
  },
};
