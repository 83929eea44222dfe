/* Which of the words on refusals explains the code that callers were answered. */

/** By the code that callers are answered. */
const causes = {
  missing_api_key: 'key',
  invalid_api_key: 'key',
  token_disabled: 'keyOff',
  token_expired: 'keyExpired',
  token_exhausted: 'keySpent',
  user_banned: 'banned',
  ip_not_allowed: 'address',
  channel_selection_forbidden: 'channel',
  invalid_channel_id: 'channel',
  channel_disabled: 'channel',
  group_not_allowed: 'group',
  group_retired: 'group',
  model_not_found: 'modelUnknown',
  get_playground_channel_failed: 'noChannel',
  model_not_allowed: 'modelForbidden',
  model_price_error: 'noPrice',
  insufficient_user_quota: 'balance',
  pre_consume_token_quota_failed: 'keySpent',
  token_budget_exceeded: 'budget',
  rate_limit_exceeded: 'rate',
  concurrency_limit_exceeded: 'concurrency',
  too_many_request_bodies: 'rate',
  read_request_body_failed: 'body',
  sensitive_words_detected: 'words',
  convert_request_failed: 'unsupported',
  request_bodies_exhausted: 'busy',
  store_unavailable: 'store',
  internal_error: 'internal',
} as const;

/** The codes by which the log can be asked for refusals. */
export const refusalCodes = Object.keys(causes).sort();

type Cause = (typeof causes)[keyof typeof causes] | 'invalid' | 'other';

const isKnown = (code: string): code is keyof typeof causes => Object.hasOwn(causes, code);

export function causeOf(status: number, code: string): Cause {
  // The same code stands for a model that nobody has, and of one whose channels are away.
  if (code === 'model_not_found' && status === 503) return 'noChannel';
  if (isKnown(code)) return causes[code];
  return status === 400 ? 'invalid' : 'other';
}
