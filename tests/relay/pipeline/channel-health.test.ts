import { describe, expect, test } from 'vitest';
import { usual } from '../../../src/domain/channel/provider.js';
import { reasonOf, saysChannelIsDead } from '../../../src/relay/pipeline/channels/channel-health.js';
import type { UpstreamError } from '../../../src/relay/upstream/upstream-error.js';

const said = (facts: Partial<UpstreamError>): UpstreamError => ({
  ...{ status: 400, message: 'no', type: 'upstream_error', code: null, param: '', retryAfter: null },
  ...facts,
});
const keywords = ['your credit balance is too low', 'organization has been disabled'];

describe('a channel is out of order', () => {
  test.each([
    ['by 401', usual, 401, {}, true],
    ['not by 403', usual, 403, {}, false],
    ['by 403 where that is how a dead key is answered', { forbiddenMeansDead: true }, 403, {}, true],
    ['not by 429', usual, 429, {}, false],
    ['not by 500', usual, 500, {}, false],
    ['by the code of a dead key', usual, 400, { code: 'invalid_api_key' }, true],
    ['by the code of a closed account', usual, 400, { code: 'account_deactivated' }, true],
    ['by the code of an account without billing', usual, 429, { code: 'billing_not_active' }, true],
    ['by the type of an empty account', usual, 429, { type: 'insufficient_quota' }, true],
    ['by the type of a key without permission', usual, 400, { type: 'permission_error' }, true],
    ['not by the code of a wrong request', usual, 400, { code: 'context_length_exceeded' }, false],
    ['by words, in any case', usual, 400, { message: 'Your CREDIT balance is too low.' }, true],
    ['not by other words', usual, 400, { message: 'your balance is fine' }, false],
  ] as const)('%s', (_rule, provider, status, facts, dead) => {
    expect(saysChannelIsDead(provider, status, said(facts), { keywords, request: '{"model":"m"}' })).toBe(dead);
  });

  test.each([
    ['that stand in the request', '{"content":"say: Your credit balance is too low"}', false],
    ['of which only another stands in the request', '{"content":"organization has been disabled"}', true],
  ] as const)('if the error text is %s: %s %s', (_rule, request, dead) => {
    const error = said({ message: 'Your credit balance is too low' });
    expect(saysChannelIsDead(usual, 400, error, { keywords, request })).toBe(dead);
  });
});

describe('the recorded reason for disabling a channel', () => {
  const request = '{"messages":[{"role":"user","content":"my secret plan for the summer"}]}';

  test('contains type, status, code and message', () => {
    const error = said({ message: 'the key was revoked', code: 'invalid_api_key' });
    expect(reasonOf(401, error, request)).toBe(
      'type upstream_error, httpCode 401, code invalid_api_key, message the key was revoked',
    );
  });
  test('omits a message that repeats the request', () => {
    const reason = reasonOf(401, said({ message: 'cannot do "my secret plan for the summer"' }), request);
    expect(reason).not.toContain('secret');
    expect(reason).toContain('left out');
  });
});
