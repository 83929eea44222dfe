import { describe, expect, test } from 'vitest';
import { accountFaultIn } from '../../../src/relay/contracts/account-fault.js';
import { errorForCaller } from '../../../src/relay/contracts/errors.js';
import { anthropicFailureOf } from '../../../src/relay/protocols/anthropic/failure.js';
import { bedrockRefusal } from '../../../src/relay/protocols/bedrock/failure.js';
import { geminiRefusal } from '../../../src/relay/protocols/gemini/failure.js';
import type { Confidential } from '../../../src/relay/upstream/confidential.js';
import { errorOfStatus, type UpstreamError } from '../../../src/relay/upstream/upstream-error.js';

/* Refusals in the words of vendors and of other gateways: do they concern the account of the gateway's operator? */

const confidential: Confidential = {
  key: 'sk-none-of-these-words',
  organization: '',
  other: '',
  baseUrl: '',
  proxy: null,
};
const openAi = (status: number, body: object): UpstreamError =>
  errorOfStatus(status, Buffer.from(JSON.stringify(body)), confidential);
const gemini = (status: number, error: object): UpstreamError =>
  geminiRefusal(status, Buffer.from(JSON.stringify({ error })), confidential);
const anthropic = (status: number, type: string, message: string): UpstreamError =>
  anthropicFailureOf({ type: 'error', error: { type, message } }, status, confidential);
const bedrock = (status: number, name: string, message: string): UpstreamError =>
  bedrockRefusal(status, { 'x-amzn-errortype': name }, Buffer.from(JSON.stringify({ message })), confidential);
const faultOf = (error: UpstreamError) => accountFaultIn(error, error.status)?.fault ?? null;

const error = (message: string, facts: object = {}) => ({ error: { message, ...facts } });

describe('an account without credit is recognised', () => {
  test.each<[string, UpstreamError]>([
    [
      'of a gateway of this family',
      openAi(403, error('the quota of the user is not sufficient', { code: 'insufficient_user_quota' })),
    ],
    [
      'of a gateway of this family in Chinese',
      openAi(403, error('用户额度不足, 剩余额度: ＄0.012000 (request id: 2026)', { type: 'new_api_error' })),
    ],
    [
      'of a gateway that needs a larger reservation',
      openAi(403, error('预扣费额度失败, 用户剩余额度: ＄0.1, 需要预扣费额度: ＄0.2', { code: 'x' })),
    ],
    ['of a gateway whose key is spent', openAi(401, error('该令牌额度已用尽'))],
    [
      'of a gateway whose key has an allowance',
      openAi(403, error('token quota is not enough', { code: 'pre_consume_token_quota_failed' })),
    ],
    [
      'of OpenAI',
      openAi(429, error('You exceeded your current quota', { type: 'insufficient_quota', code: 'insufficient_quota' })),
    ],
    ['of OpenAI without billing', openAi(429, error('Your account is not active', { code: 'billing_not_active' }))],
    [
      'of OpenAI at its hard limit',
      openAi(400, error('Billing hard limit has been reached', { code: 'billing_hard_limit_reached' })),
    ],
    [
      'of Anthropic',
      anthropic(400, 'invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'),
    ],
    ['of Anthropic by the name of the error', anthropic(402, 'billing_error', 'Your payment method failed')],
    [
      'of DeepSeek',
      openAi(402, error('Insufficient Balance', { type: 'unknown_error', code: 'invalid_request_error' })),
    ],
    ['of OpenRouter', openAi(402, error('This request requires more credits, or fewer max_tokens', { code: 402 }))],
    ['of Moonshot', openAi(429, error('Your account is suspended', { type: 'exceeded_current_quota_error' }))],
    ['of Zhipu', openAi(429, error('您的账户已欠费，请充值后重试。', { code: '1113' }))],
    ['of Z.ai', openAi(429, error('Insufficient balance or no resource package. Please recharge.', { code: '1113' }))],
    [
      'of SiliconFlow',
      openAi(403, { code: 30001, message: 'Sorry, your account balance is insufficient', data: null }),
    ],
    [
      'of DashScope',
      openAi(400, { code: 'Arrearage', message: 'Access denied, please make sure your account is in good standing.' }),
    ],
    [
      'of DashScope with the free tier only',
      openAi(403, error('The free tier of the model has been exhausted.', { code: 'AllocationQuota.FreeTierOnly' })),
    ],
    [
      'of Volcengine',
      openAi(
        403,
        error('The request failed because your account has an overdue balance.', { code: 'AccountOverdueError' }),
      ),
    ],
    [
      'of xAI',
      openAi(403, {
        code: 'The caller does not have permission',
        error: "Your newly created teams doesn't have any credits yet.",
      }),
    ],
    [
      'of xAI at its limit',
      openAi(429, {
        code: 'x',
        error: 'Your team has either used all available credits or reached its monthly spending limit.',
      }),
    ],
    ['of Fireworks', openAi(412, error('Account x is suspended, possibly due to reaching the monthly spending limit'))],
    [
      'of Hugging Face',
      openAi(402, { error: 'You have exceeded your monthly included credits for Inference Providers.' }),
    ],
    [
      'of Gemini',
      gemini(429, { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'Your prepayment credits are depleted.' }),
    ],
    [
      'of Google without billing',
      gemini(403, {
        code: 403,
        status: 'PERMISSION_DENIED',
        message: 'This API method requires billing to be enabled.',
      }),
    ],
    [
      'of Amazon',
      bedrock(
        403,
        'AccessDeniedException',
        'Model access is denied due to INVALID_PAYMENT_INSTRUMENT: a valid one is needed',
      ),
    ],
  ])('%s', (_where, refusal) => expect(faultOf(refusal)).toBe('exhausted'));
});

describe('a rejected key is recognised', () => {
  test.each<[string, UpstreamError]>([
    ['of OpenAI', openAi(401, error('Incorrect API key provided', { code: 'invalid_api_key' }))],
    [
      'of xAI, with 400',
      openAi(400, { code: 'Client specified an invalid argument', error: 'Incorrect API key provided.' }),
    ],
    ['of Anthropic', anthropic(401, 'authentication_error', 'invalid x-api-key')],
    ['of Anthropic, with 403', anthropic(403, 'permission_error', 'This organization has been disabled.')],
    [
      'of Gemini',
      gemini(400, {
        code: 400,
        status: 'INVALID_ARGUMENT',
        message: 'API key not valid.',
        details: [{ reason: 'API_KEY_INVALID' }],
      }),
    ],
    [
      'of Amazon',
      bedrock(403, 'UnrecognizedClientException', 'The security token included in the request is invalid.'),
    ],
    ['of Spark', openAi(403, { message: 'HMAC signature does not match' })],
    ['of a gateway in Chinese', openAi(401, error('无效的令牌', { type: 'new_api_error' }))],
  ])('%s', (_where, refusal) => expect(faultOf(refusal)).toBe('refused'));
});

describe('no account fault is recognised in', () => {
  test.each<[string, UpstreamError]>([
    [
      'a rate limit of OpenAI',
      openAi(
        429,
        error('Rate limit reached for gpt-5 on tokens per min (TPM)', { type: 'tokens', code: 'rate_limit_exceeded' }),
      ),
    ],
    [
      'a rate limit of Gemini, which is called a quota',
      gemini(429, {
        code: 429,
        status: 'RESOURCE_EXHAUSTED',
        message: 'You exceeded your current quota, please check your plan and billing details.',
        details: [{ retryDelay: '34s' }],
      }),
    ],
    ['a quota that is renewed', { ...openAi(429, error('your quota has been exhausted')), retryAfter: '20' }],
    [
      'a prompt that is too long',
      openAi(400, error('maximum context length is 8192', { code: 'context_length_exceeded' })),
    ],
    [
      'a prompt that was flagged',
      openAi(403, error('Your chosen model requires moderation and your input was flagged')),
    ],
    ['an overload', anthropic(529, 'overloaded_error', 'Overloaded')],
    [
      'the message of this gateway about an account of its own',
      openAi(
        502,
        error('the upstream does not serve the gateway at present; whoever runs the gateway can see why', {
          type: 'gateway_error',
          code: 'upstream_account_unavailable',
        }),
      ),
    ],
  ])('%s', (_what, refusal) => expect(faultOf(refusal)).toBe(null));
});

describe('the error that a caller receives for an account fault', () => {
  const empty = openAi(
    403,
    error('balance ＄0.01 of sub-account 7', { type: 'new_api_error', code: 'insufficient_user_quota' }),
  );

  test('has no status, text, type or code that means the caller’s own account', () =>
    expect(errorForCaller(empty, 403)).toMatchObject({
      ...{ status: 502, type: 'gateway_error', code: 'upstream_account_unavailable', shouldRetry: false },
      message: expect.not.stringMatching(/0\.01|quota|balance|key/),
    }));

  test.each([
    [403, 503, 503],
    [403, 429, 429],
    [403, 401, 502],
    [403, 402, 502],
  ])('has the status of the channel’s mapping: %i mapped to %i is %i', (_answered, mapped, expected) =>
    expect(errorForCaller(empty, mapped).status).toBe(expected),
  );
});
