import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../../src/adapters/clock.js';
import { withDatabase } from '../../../src/cli/database.js';
import { ApiKeyId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import { dayOf } from '../../../src/domain/ledger/budget.js';
import { apiKeySnapshot } from '../../../src/projections/models/ledger/ledger-queries.js';
import { openReadModels } from '../../../src/projections/read-models.js';
import { type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { expectLedgersToAgree, ledgerAtRest, ledgerOf, readLog } from '../../support/gateway/ledger-snapshot.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';
import { type PausedUpstream, startPausedUpstream } from '../../support/upstreams/paused-upstream.js';

/* Budgets of API keys, over real HTTP. One quota per token in and out; the clock is the test's, day after day. */

const hourMs = 3_600_000;
const maxTokens = 50;
const question = { role: 'user', content: 'What is a ledger?' } as const;

let gateway: TestGateway;
let held: PausedUpstream;
let callers: Callers;
/** What is held for a call, and what it costs in the end. */
let price: number;
/** Wednesday noon, a week later for each test. */
let week = 0;
const wednesdayNoon = Date.UTC(2027, 0, 6, 12);
let now = wednesdayNoon;
let user: TestUser;

const booksAgree = (): Promise<void> =>
  withDatabase(gateway.config, quietLog, async (database) => {
    await expectLedgersToAgree(database, await ledgerAtRest(database));
  });

const newestKey = async () => {
  const [apiKey] = (await gateway.application.queries.apiKeys(user.actor, { page: 1, size: 1 })).items;
  if (apiKey === undefined) throw new Error('there is no API key');
  return apiKey;
};

/** The newest API key when all that its callers were answered has come to the read models. */
const newestKeyWith = ({ spent }: { spent: number }) =>
  until(async () => {
    const apiKey = await newestKey();
    return apiKey.budget?.spent === spent ? apiKey : null;
  });

beforeAll(async () => {
  gateway = await startTestGateway({ MAX_UNFINISHED_BODIES: '200' });
  held = await startPausedUpstream();
  callers = openCallers(gateway.url);
  // Names of one length: a call of either is held for alike.
  const ones = '{"metered":1,"waiting":1}';
  for (const option of ['ModelRatio', 'CompletionRatio']) await gateway.setOption(option, ones);
  // Cached input is the dearest there is here: a call can cost all that is held for it.
  await gateway.setOption('CacheRatio', '{"metered":2,"waiting":2}');
  await gateway.setOption('DisplayInCurrencyEnabled', 'false');
  await gateway.addChannel({ name: 'upstream', models: ['metered'] });
  await gateway.addChannel({ name: 'held', models: ['waiting'], baseUrl: held.url });
  const rich = callers.with(await gateway.addApiKey(await gateway.addUser(1_000_000)));
  const { requestId } = await rich.chat({ model: 'metered', max_tokens: maxTokens });
  price = await withDatabase(gateway.config, quietLog, async (database) => {
    const [event] = ledgerOf(await readLog(database)).calls.get(requestId)?.reserved ?? [];
    if (event === undefined) throw new Error('the call was not reserved');
    return event.reserved;
  });
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await held?.stop();
});
beforeEach(async () => {
  now = wednesdayNoon + ++week * 7 * 24 * hourMs;
  vi.spyOn(systemClock, 'now').mockImplementation(() => Instant(now));
  gateway.provider.reset();
  const prompt = (price - maxTokens) / 2;
  gateway.provider.script('metered', { tokens: { prompt, cached: prompt, completion: maxTokens } });
  user = await gateway.addUser(1_000_000);
});
afterEach(() => vi.restoreAllMocks());

describe('an API key with a budget for ten calls', () => {
  test('serves ten of sixty concurrent calls, refuses the rest, and serves ten again on the next day', async () => {
    const apiKey = await gateway.addApiKey(user, { budget: { quota: 10 * price, period: 'daily' } });
    const caller = callers.with(apiKey);
    const sixty = async () => {
      const answers = await Promise.all(
        Array.from({ length: 60 }, () => caller.chat({ model: 'metered', max_tokens: maxTokens })),
      );
      const passed = answers.filter(({ status }) => status === 200).length;
      const refused = answers.filter(({ status }) => status === 402 || status === 429);
      for (const answer of refused) expect(errorIn(answer).code).toBe('token_budget_exceeded');
      return [passed, refused.length];
    };
    expect(await sixty()).toEqual([10, 50]);
    expect(gateway.provider.tally().calls).toBe(10);
    const { budget } = await newestKeyWith({ spent: 10 * price });
    expect(budget).toMatchObject({ resets_at: (now + 12 * hourMs) / 1000 });
    now += 12 * hourMs - 1;
    expect(await sixty()).toEqual([0, 60]);
    now += 1;
    expect((await newestKey()).budget).toMatchObject({ spent: 0 });
    expect(await sixty()).toEqual([10, 50]);
    expect(await newestKeyWith({ spent: 10 * price })).toMatchObject({ status: 'enabled' });
    await booksAgree();
  });

  test('counts in-flight calls, and calls past midnight on the day of their settlement', async () => {
    const apiKey = await gateway.addApiKey(user, { budget: { quota: 10 * price, period: 'daily' } });
    const caller = callers.with(apiKey);
    const calls = Array.from({ length: 10 }, () => caller.chat({ model: 'waiting', max_tokens: maxTokens }));
    await until(async () => (held.waiting() === 10 ? true : null));
    expect(await caller.chat({ model: 'metered', max_tokens: maxTokens })).toMatchObject({ status: 402 });
    now += 24 * hourMs;
    expect(await caller.chat({ model: 'metered', max_tokens: maxTokens })).toMatchObject({ status: 402 });
    const prompt = (price - maxTokens) / 2;
    held.answer({ prompt, cached: prompt, completion: maxTokens });
    for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
    const { id } = await newestKeyWith({ spent: 10 * price });
    expect(await caller.chat({ model: 'metered', max_tokens: maxTokens })).toMatchObject({ status: 402 });
    await withDatabase(gateway.config, quietLog, async ({ pool }) => {
      const { spending } = await apiKeySnapshot(openReadModels(pool), ApiKeyId(id));
      expect(spending).toEqual([[dayOf(Instant(now)), BigInt(10 * price)]]);
    });
    await booksAgree();
  });

  test('applies another budget from its next call on, and includes what was spent under the previous one', async () => {
    const apiKey = await gateway.addApiKey(user, { budget: { quota: price, period: 'daily' } });
    const caller = callers.with(apiKey);
    const status = async () => (await caller.chat({ model: 'metered', max_tokens: maxTokens })).status;
    const { id, name, unlimited } = await newestKey();
    const edit = async (budget: { quota: Quota; period: 'weekly' | 'daily' } | null) => {
      const terms = { name, unlimited, expiresAt: null, modelLimitsEnabled: false, modelLimits: [] };
      const change = { terms: { ...terms, allowIps: [], group: '', budget }, quota: null };
      const { application } = gateway;
      await application.visible(await application.apiKeys.edit(user.actor, ApiKeyId(id), change));
    };
    expect([await status(), await status()]).toEqual([200, 402]);
    await edit({ quota: Quota(2 * price), period: 'weekly' });
    expect([await status(), await status()]).toEqual([200, 402]);
    await edit(null);
    expect([await status(), await status()]).toEqual([200, 200]);
    await edit({ quota: Quota(4 * price), period: 'daily' });
    expect(await status()).toBe(402);
    await booksAgree();
  });
});

describe('a caller with a spent budget', () => {
  const thrownBy = async (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => null,
      (thrown: unknown) => thrown,
    );
  let apiKey: string;
  beforeEach(async () => {
    apiKey = await gateway.addApiKey(user, { budget: { quota: price, period: 'weekly' } });
    await callers.with(apiKey).chat({ model: 'metered', max_tokens: maxTokens });
  });
  /** Until Monday. */
  const seconds = 4.5 * 24 * 3600;
  const message = () =>
    new RegExp(
      `the weekly budget of the token, ${price}, is not sufficient: available 0, needed \\d+; it begins anew at ` +
        `${new Date(now + seconds * 1000).toISOString().slice(0, 19)}Z \\(request id: `,
    );

  test('learns from OpenAI’s client which budget, and until when, at once: the client does not sleep till then', async () => {
    let requests = 0;
    const counting: typeof fetch = (...asked) => {
      requests++;
      return fetch(...asked);
    };
    const client = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 2, fetch: counting });
    const error = await thrownBy(
      client.chat.completions.create({ model: 'metered', messages: [question], max_tokens: maxTokens }),
    );
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(error).toMatchObject({ status: 402, code: 'token_budget_exceeded', type: 'gateway_error' });
    expect((error as InstanceType<typeof OpenAI.APIError>).headers?.get('retry-after')).toBe(null);
    expect((error as Error).message).toMatch(message());
    expect(requests).toBe(1);
  });

  test('learns so from Anthropic’s client', async () => {
    const client = new Anthropic({ apiKey, baseURL: gateway.url, maxRetries: 2 });
    const error = await thrownBy(
      client.messages.create({ model: 'metered', messages: [question], max_tokens: maxTokens }),
    );
    expect(error).toBeInstanceOf(Anthropic.APIError);
    expect(error).toMatchObject({ status: 402, error: { type: 'error', error: { type: 'billing_error' } } });
    expect((error as Error).message).toContain('the weekly budget of the token');
  });

  test('learns so in Gemini’s dialect', async () => {
    const { status, text, headers } = await callers.with(apiKey).send('/v1beta/models/metered:generateContent', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-goog-api-key': apiKey },
      body: {
        contents: [{ role: 'user', parts: [{ text: question.content }] }],
        generationConfig: { maxOutputTokens: maxTokens },
      },
    });
    expect([status, headers['retry-after'], headers['x-should-retry']]).toEqual([402, undefined, 'false']);
    expect(JSON.parse(text)).toMatchObject({
      error: { code: 402, status: 'FAILED_PRECONDITION', message: expect.stringContaining('the weekly budget') },
    });
  });

  test('learns when a period begins that covers its call with a lower limit', async () => {
    const expensive = await callers.with(apiKey).chat({ model: 'metered', max_tokens: price });
    expect([expensive.status, errorIn(expensive).code]).toEqual([402, 'token_budget_exceeded']);
    expect(errorIn(expensive).message).toContain('it begins anew at');
  });

  test('is not asked to wait for a call that no period covers', async () => {
    await gateway.setOption('LowerOutputLimitEnabled', 'false');
    onTestFinished(() => gateway.setOption('LowerOutputLimitEnabled', 'true'));
    const expensive = await callers.with(apiKey).chat({ model: 'metered', max_tokens: price });
    expect([expensive.status, expensive.headers['retry-after'], errorIn(expensive).code]).toEqual([
      403,
      undefined,
      'token_budget_exceeded',
    ]);
    expect(errorIn(expensive).message).toContain(
      `the weekly budget of the token, ${price}, is less than the call may cost`,
    );
  });
});
