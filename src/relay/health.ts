import type { UpstreamError } from './upstream-error.js';

/* Does a failure say that the channel itself is out of order? */

const codes = new Set(['invalid_api_key', 'account_deactivated', 'billing_not_active']);
const types = new Set([
  'insufficient_quota',
  'insufficient_user_quota',
  'authentication_error',
  'permission_error',
  'forbidden',
]);

/** Gemini answers a dead key with 403. */
const forbiddenMeansDead = 24;

/** `status` after the channel's mapping; `keywords` in lower case. */
export const saysChannelIsDead = (
  channelType: number,
  status: number,
  error: UpstreamError,
  keywords: readonly string[],
): boolean =>
  status === 401 ||
  (status === 403 && channelType === forbiddenMeansDead) ||
  (error.code !== null && codes.has(error.code)) ||
  types.has(error.type) ||
  keywords.some((keyword) => error.message.toLowerCase().includes(keyword));
