import { describe, expect, test } from 'vitest';
import {
  type ApiKeyCommand,
  type ApiKeyDisabledCause,
  type ApiKeyEvent,
  apiKeyDecider,
  isLiveApiKey,
} from '../../../src/domain/api-key/api-key.js';
import type { ApiKeyTerms } from '../../../src/domain/api-key/api-key-terms.js';
import { SecretId, UserId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import { apiKeyTerms } from '../../support/given/api-key-terms.js';
import { scenariosOf } from '../../support/given/given.js';

const given = scenariosOf(apiKeyDecider);
const owner = UserId(7);
const stranger = UserId(8);
const noon = Instant(1_800_000_000_000);

const terms = apiKeyTerms();
const issued = (changed: Partial<ApiKeyTerms> = {}): ApiKeyEvent => ({
  type: 'ApiKeyIssued',
  owner,
  keyHash: 'hash-1',
  secret: SecretId('key-1'),
  quota: Quota(500),
  terms: apiKeyTerms(changed),
});
const disabledAs = (cause: ApiKeyDisabledCause): ApiKeyEvent => ({ type: 'ApiKeyDisabled', owner, cause });
const admin = UserId(2);
const revoked: ApiKeyEvent = { type: 'ApiKeyRevoked', owner, by: admin, name: terms.name };
const revoke: ApiKeyCommand = { type: 'RevokeApiKey', by: admin };
const enabled: ApiKeyEvent = { type: 'ApiKeyEnabled', owner };
const deleted: ApiKeyEvent = { type: 'ApiKeyDeleted', owner };
const edited = (quotaDelta: number, changed: Partial<ApiKeyTerms>): ApiKeyEvent => ({
  type: 'ApiKeyEdited',
  owner,
  quotaDelta: Quota(quotaDelta),
  terms: apiKeyTerms(changed),
});

const issue: ApiKeyCommand = {
  type: 'IssueApiKey',
  owner,
  keyHash: 'hash-1',
  secret: SecretId('key-1'),
  quota: Quota(500),
  terms,
};
const edit = (by: UserId, quotaDelta: number, changed: Partial<ApiKeyTerms> = {}): ApiKeyCommand => ({
  type: 'EditApiKey',
  owner: by,
  quotaDelta: Quota(quotaDelta),
  terms: apiKeyTerms(changed),
});
const enable = (remaining = 500, by = owner): ApiKeyCommand => ({
  type: 'EnableApiKey',
  owner: by,
  at: noon,
  remaining: Quota(remaining),
});

describe('issuing an API key', () => {
  test('records hash, vault entry, quota and terms', () => given().when(issue).thenRecordedOnce(issued()));
  test('does not restore a deleted one', () => given(issued(), deleted).when(issue).thenNothing());
});

describe('editing an API key', () => {
  test('records the new terms and the difference of the remaining quota', () =>
    given(issued())
      .when(edit(owner, -100, { name: 'build' }))
      .thenRecorded(edited(-100, { name: 'build' })));
  test('may change the remaining quota only', () =>
    given(issued()).when(edit(owner, 100)).thenRecorded(edited(100, {})));
  test('with unchanged terms and remaining quota changes nothing', () =>
    given(issued()).when(edit(owner, 0)).thenNothing());
  test('leaves the status unchanged', () =>
    given(issued(), disabledAs('expired'), edited(0, { name: 'build' })).thenState({
      status: 'expired',
      owner,
      terms: { ...terms, name: 'build' },
    }));
});

describe('the budget of an API key', () => {
  const budget = { quota: Quota(300), period: 'weekly' } as const;
  const { budget: _, ...termsWithout } = terms;
  const editWithout: ApiKeyCommand = { type: 'EditApiKey', owner, quotaDelta: Quota(0), terms: termsWithout };

  test('is recorded with the terms', () =>
    given()
      .when({ ...issue, terms: apiKeyTerms({ budget }) })
      .thenRecordedOnce(issued({ budget })));
  test('is changed, set and removed by an edit', () => {
    const larger = { ...budget, quota: Quota(301) };
    const monthly = { ...budget, period: 'monthly' } as const;
    given(issued({ budget }))
      .when(edit(owner, 0, { budget: larger }))
      .thenRecordedOnce(edited(0, { budget: larger }));
    given(issued({ budget }))
      .when(edit(owner, 0, { budget: monthly }))
      .thenRecordedOnce(edited(0, { budget: monthly }));
    given(issued())
      .when(edit(owner, 0, { budget }))
      .thenRecordedOnce(edited(0, { budget }));
    given(issued({ budget }))
      .when(edit(owner, 0, { budget: null }))
      .thenRecordedOnce(edited(0, {}));
  });
  test('is kept when an edit does not mention it', () => {
    given(issued({ budget })).when(editWithout).thenNothing();
    given(issued({ budget, name: 'other' }))
      .when(editWithout)
      .thenRecordedOnce(edited(0, { budget }));
    given(issued()).when(editWithout).thenNothing();
  });
  test('is refused beyond its bounds, by the name of its field', () => {
    const none = apiKeyTerms({ budget: { ...budget, quota: Quota(0) } });
    given()
      .when({ ...issue, terms: none })
      .thenRefused('invalid-field', {
        field: 'budget.quota',
        allowed: 'an integer from 1 to 1000000000000000',
      });
    given(issued())
      .when(edit(owner, 0, { budget: none.budget }))
      .thenRefused('invalid-field');
  });
});

describe('enabling an API key', () => {
  test('is recorded once', () => given(issued(), disabledAs('manual')).when(enable()).thenRecordedOnce(enabled));
  test('changes nothing when it is enabled', () => given(issued()).when(enable()).thenNothing());

  test('is refused while it is past its expiry', () => {
    const expired = issued({ expiresAt: Instant(noon - 1) });
    given(expired, disabledAs('expired')).when(enable()).thenRefused('api-key-expired-enable');
    given(issued({ expiresAt: noon }), disabledAs('expired'))
      .when(enable())
      .thenRefused('api-key-expired-enable');
  });
  test('works for an expired one whose expiry was changed or removed', () => {
    const expired = issued({ expiresAt: Instant(noon - 1) });
    const prolonged = edited(0, { expiresAt: Instant(noon + 1) });
    given(expired, disabledAs('expired'), prolonged).when(enable()).thenRecordedOnce(enabled);
    given(expired, disabledAs('expired'), edited(0, {})).when(enable()).thenRecordedOnce(enabled);
  });

  test('is refused while its quota is used up', () => {
    given(issued(), disabledAs('exhausted')).when(enable(0)).thenRefused('api-key-exhausted-enable');
    given(issued(), disabledAs('exhausted')).when(enable(-1)).thenRefused('api-key-exhausted-enable');
  });
  test('works for a used up one that has quota again, or is unlimited', () => {
    given(issued(), disabledAs('exhausted')).when(enable(1)).thenRecordedOnce(enabled);
    given(issued({ unlimited: true }), disabledAs('exhausted'))
      .when(enable(-5))
      .thenRecordedOnce(enabled);
  });
  test('checks expiry and quota only where they were the reason', () =>
    given(issued({ expiresAt: Instant(noon - 1) }), disabledAs('manual'))
      .when(enable(0))
      .thenRecordedOnce(enabled));
});

describe('disabling an API key', () => {
  test.each(['manual', 'expired', 'exhausted'] as const)('as %s is recorded once', (cause) =>
    given(issued()).when({ type: 'DisableApiKey', owner, cause }).thenRecordedOnce(disabledAs(cause)),
  );
  test('may set another reason later', () =>
    given(issued(), disabledAs('manual'))
      .when({ type: 'DisableApiKey', owner, cause: 'expired' })
      .thenRecordedOnce(disabledAs('expired')));
});

describe('deleting an API key', () => {
  test('is recorded', () => given(issued()).when({ type: 'DeleteApiKey', owner }).thenRecorded(deleted));
});

describe("another user's API key", () => {
  const orders: ApiKeyCommand[] = [
    edit(stranger, 5),
    enable(500, stranger),
    { type: 'DisableApiKey', owner: stranger, cause: 'manual' },
    { type: 'DeleteApiKey', owner: stranger },
  ];
  test.each(orders)('is treated as missing for $type', (order) =>
    given(issued(), disabledAs('expired')).when(order).thenRefused('api-key-not-found'),
  );
  test.each(orders)('that does not exist is answered the same for $type', (order) =>
    given().when(order).thenRefused('api-key-not-found'),
  );
  test.each(orders.map((order) => ({ ...order, owner })))(
    'that its owner deleted is answered the same for $type',
    (order) => given(issued(), deleted).when(order).thenRefused('api-key-not-found'),
  );
});

describe('revoking an API key', () => {
  test('disables it, for any owner and in any state', () => {
    given(issued()).when(revoke).thenRecorded(revoked);
    given(issued(), disabledAs('exhausted')).when(revoke).thenRecorded(revoked);
    given(issued(), revoked).thenState({ status: 'manual', owner, terms });
  });
  test('changes nothing for a disabled one', () => {
    given(issued(), revoked).when(revoke).thenNothing();
    given(issued(), disabledAs('manual')).when(revoke).thenNothing();
  });
  test('names it by its current name', () =>
    given(issued(), edited(0, { name: 'renamed' }))
      .when(revoke)
      .thenRecorded({ type: 'ApiKeyRevoked', owner, by: admin, name: 'renamed' }));
  test('lets its owner enable it again', () => given(issued(), revoked).when(enable()).thenRecorded(enabled));
  test('is refused where the key does not exist', () => {
    given().when(revoke).thenRefused('api-key-not-found');
    given(issued(), deleted).when(revoke).thenRefused('api-key-not-found');
  });
});

describe('the state of an API key is', () => {
  test('absent before it is issued, whatever else is recorded', () => {
    given().thenState({ status: 'absent' });
    given(enabled, disabledAs('manual'), edited(5, {})).thenState({ status: 'absent' });
  });
  test('enabled with its terms', () => given(issued()).thenState({ status: 'enabled', owner, terms }));
  test('disabled for a reason, enabled again', () => {
    given(issued(), disabledAs('exhausted')).thenState({ status: 'exhausted', owner, terms });
    given(issued(), disabledAs('exhausted'), enabled).thenState({ status: 'enabled', owner, terms });
  });
  test('absent once deleted, permanently', () => {
    given(issued(), deleted).thenState({ status: 'deleted' });
    given(issued(), deleted, enabled, edited(1, {})).thenState({ status: 'deleted' });
  });
  test('live unless absent or deleted', () => {
    expect(isLiveApiKey({ status: 'absent' })).toBe(false);
    expect(isLiveApiKey({ status: 'deleted' })).toBe(false);
    expect(isLiveApiKey({ status: 'manual', owner, terms })).toBe(true);
  });
});
