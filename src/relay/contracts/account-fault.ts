import type { UpstreamError } from '../upstream/upstream-error.js';

/*
 * Does an upstream's refusal concern the account of the gateway's operator there? Whoever calls the gateway has no part
 * in it: another channel may serve the call, and what is said of balances and keys is the operator's business.
 */

/** `exhausted`: nothing is left to spend. `refused`: the key, or what it stands for, is not taken. */
type AccountFault = 'exhausted' | 'refused';

/** Codes and types, in small letters. */
const exhausted: ReadonlySet<string> = new Set([
  'insufficient_quota',
  'insufficient_user_quota',
  'pre_consume_token_quota_failed',
  'token_budget_exceeded',
  'token_exhausted',
  'quota_exhausted',
  'insufficient_balance',
  'insufficient_credits',
  'insufficient_credit',
  'insufficient_funds',
  'balance_not_enough',
  'payment_required',
  'billing_error',
  'billing_not_active',
  'billing_hard_limit_reached',
  'exceeded_current_quota_error',
  'arrearage',
  'accountoverdueerror',
  'allocationquota.freetieronly',
  'failedoperation.freeresourcepackexhausted',
  'failedoperation.resourcepackexhausted',
  'resourceunavailable.inarrears',
  'resourceinsufficient.resourcepackexhausted',
  // Zhipu's number for an account in arrears.
  '1113',
]);

const refused: ReadonlySet<string> = new Set([
  'invalid_api_key',
  'incorrect_api_key',
  'invalid_apikey',
  'invalidapikey',
  'account_deactivated',
  'organization_deactivated',
  'authentication_error',
  'unauthenticated',
  'permission_error',
  'forbidden',
  'missing_api_key',
  'token_expired',
  'token_disabled',
  'user_banned',
]);

/** Vendors and other gateways. Not "You exceeded your current quota": Google says that of a minute's rate. */
const exhaustedWords = [
  /insufficient[ _](?:account |user |token |your )?(?:balance|credits?|funds|quota)/,
  /(?:balance|credits?|quota|funds)(?: of the (?:user|token|account))? (?:is|are|has been|have been) (?:insufficient|not (?:enough|sufficient)|too low|depleted|exhausted|used up)/,
  /not enough (?:credits?|balance|funds|quota)/,
  /(?:requires? more|out of|run out of|does ?n[o']t have any|used all available) credits/,
  /monthly (?:spending|spend|usage|credit) limit|your (?:spending|spend|credit) limit|reached (?:its|your) .{0,20}spending limit/,
  /exceeded your monthly included credits/,
  /free tier of the model has been exhausted|daily free allocation/,
  /account is in good standing|account .{0,40}(?:overdue|in arrears|suspended due to)/,
  /invalid_payment_instrument|requires billing to be enabled|billing (?:is disabled|account .{0,60}(?:closed|disabled))/,
  /(?:余额|额度|配额|资源包)(?:不足|已?用尽|已?用完|已?耗尽|为0)|剩余额度|预扣费额度失败|欠费|请(?:及时)?充值/,
];

const refusedWords = [
  /(?:invalid|incorrect|wrong|expired|revoked|disabled|unknown) (?:or (?:expired|missing|disabled) )?(?:x-)?api[ -]?key/,
  /api[ -]?key (?:provided )?(?:is|was|has been) (?:invalid|incorrect|not valid|expired|revoked|disabled|not found)|api key not valid/,
  /(?:hmac )?signature (?:does not|cannot be|is not) match|organization has been disabled/,
  /(?:无效的|已(?:禁用|过期)的)(?:令牌|api ?key|密钥)|该令牌(?:已过期|状态不可用)/,
];

/** Characters of a message that are looked at. */
const looked = 1_000;

/** What of the message says so, in small letters; null: nothing. */
function saidIn(message: string): { readonly fault: AccountFault; readonly words: string } | null {
  for (const [fault, patterns] of [
    ['exhausted', exhaustedWords],
    ['refused', refusedWords],
  ] as const)
    for (const pattern of patterns) {
      const found = pattern.exec(message);
      if (found) return { fault, words: found[0] };
    }
  return null;
}

interface FoundFault {
  readonly fault: AccountFault;
  /** Only these words of the message say so, in small letters; null: its status, code or type does. */
  readonly words: string | null;
}

/** null: the refusal says nothing of the account. `status`: after the channel's mapping. */
export function accountFaultIn(
  { code, type, message, retryAfter }: Pick<UpstreamError, 'code' | 'type' | 'message' | 'retryAfter'>,
  status: number,
): FoundFault | null {
  if (status === 402) return { fault: 'exhausted', words: null };
  for (const name of [code, type]) {
    const known = name?.toLowerCase() ?? '';
    if (exhausted.has(known)) return { fault: 'exhausted', words: null };
    if (refused.has(known)) return { fault: 'refused', words: null };
  }
  const said = saidIn(message.slice(0, looked).toLowerCase());
  if (status === 401) return { fault: said?.fault ?? 'refused', words: null };
  // A quota that comes back by itself is a rate.
  return status === 429 && retryAfter !== null ? null : said;
}
