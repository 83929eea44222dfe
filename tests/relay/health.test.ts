import { describe, expect, test } from 'vitest';
import { usual } from '../../src/domain/provider.js';
import { saysChannelIsDead } from '../../src/relay/call/health.js';
import type { UpstreamError } from '../../src/relay/upstream/upstream-error.js';

const error: UpstreamError = {
  status: 403,
  type: 'upstream_error',
  code: null,
  param: '',
  message: 'no',
  retryAfter: null,
};

describe('a refusal with 403', () => {
  test('is about the request, at most providers', () =>
    expect(saysChannelIsDead(usual, 403, error, [], '{}')).toBe(false));
  test('is about the key, where the provider means that', () =>
    expect(saysChannelIsDead({ forbiddenMeansDead: true }, 403, error, [], '{}')).toBe(true));
});
