import { BlockList } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { type Answer, type Caller, type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';

/* Who may call, from where, what and how often: everything that is asked before a channel is. */

let gateway: TestGateway;
let callers: Callers;
let user: TestUser;
let apiKey: string;

const model = 'gpt-4o-mini';
const codeOf = (answer: Answer): [number, string] => [answer.status, errorIn(answer).code];

beforeAll(async () => {
  gateway = await startTestGateway({ TRUSTED_PROXIES: '127.0.0.1' });
  callers = openCallers(gateway.url);
  await gateway.addChannel();
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
});
beforeEach(async () => {
  gateway.provider.reset();
  user = await gateway.addUser(10_000_000);
  apiKey = await gateway.addApiKey(user);
});

/** The row of a key as its owner sees it. */
const rowOf = async (key: string) => {
  const { items } = await gateway.application.queries.apiKeys(user.actor, { page: 1, size: 100 });
  const row = items.find((item) => `sk-${item.key}` === key);
  if (row === undefined) throw new Error('the key cannot be found');
  return row;
};

describe('the API key', () => {
  test('is read from every header that clients use', async () => {
    const anonymous = callers.with(null);
    const bare = apiKey.replace(/^sk-/, '');
    const accepted: Record<string, string>[] = [
      { authorization: `Bearer ${apiKey}` },
      { authorization: `bearer   ${apiKey}` },
      { authorization: apiKey },
      { authorization: bare },
      { 'x-api-key': apiKey },
      { 'x-goog-api-key': apiKey },
      { authorization: 'midjourney-proxy', 'mj-api-secret': apiKey },
    ];
    for (const headers of accepted)
      expect([headers, (await anonymous.send('/v1/models', { headers })).status]).toEqual([headers, 200]);
    expect((await anonymous.send(`/v1/models?key=${apiKey}`)).status).toBe(200);
    // Where a dialect has no business its header is no credential.
    expect(codeOf(await anonymous.chat({ model }, { headers: { 'x-api-key': apiKey } }))).toEqual([
      401,
      'missing_api_key',
    ]);
  });

  test('is required, and must exist', async () => {
    expect(codeOf(await callers.with(null).chat({ model }))).toEqual([401, 'missing_api_key']);
    for (const wrong of ['sk-', '', ' ']) expect(codeOf(await callers.with(wrong).chat({ model }))[0]).toBe(401);
    for (const wrong of [`sk-${'a'.repeat(48)}`, 'sk-abc', apiKey.slice(0, -1), `${apiKey}x`, apiKey.toUpperCase()])
      expect(codeOf(await callers.with(wrong).chat({ model }))).toEqual([401, 'invalid_api_key']);
    expect(gateway.provider.tally().calls).toBe(0);
  });

  test('is not looked up for an address that has sent many wrong ones, while cached keys are still accepted', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.77' };
    expect((await callers.with(apiKey).chat({ model }, { headers })).status).toBe(200);
    const guess = (index: number, from = headers) =>
      callers.with(`sk-${String(index).padStart(48, 'x')}`).send('/v1/models', { headers: from });
    const answers: Answer[] = [];
    for (let index = 0; index < 100; index++) answers.push(await guess(index));
    expect(answers.slice(0, 60).map(({ status }) => status)).toEqual(Array(60).fill(401));
    const last = answers.at(-1) as Answer;
    expect(codeOf(last)).toEqual([429, 'rate_limit_exceeded']);
    expect(Number(last.headers['retry-after'])).toBeGreaterThan(0);
    expect((await callers.with(apiKey).chat({ model }, { headers })).status).toBe(200);
    expect(codeOf(await guess(1, { 'x-forwarded-for': '203.0.113.78' }))).toEqual([401, 'invalid_api_key']);
  });

  test('that has expired is refused, and its status is expired from then on', async () => {
    const expired = await gateway.addApiKey(user, { expiresAt: Instant(Date.now() - 1_000) });
    expect(codeOf(await callers.with(expired).chat({ model }))).toEqual([401, 'token_expired']);
    await until(async () => ((await rowOf(expired)).status === 'expired' ? true : null));
    expect(codeOf(await callers.with(expired).chat({ model }))).toEqual([401, 'token_expired']);
    const later = await gateway.addApiKey(user, { expiresAt: Instant(Date.now() + 3_600_000) });
    expect((await callers.with(later).chat({ model })).status).toBe(200);
  });

  test('that has spent its quota is refused, is masked in the error, and its status is exhausted', async () => {
    // 0.075 × (1000 + 100 × 4) = 105: more than is left, and believed, for upstreams add to a prompt.
    gateway.provider.script(model, { tokens: { prompt: 1_000, completion: 1_000 } });
    const limited = await gateway.addApiKey(user, { quota: 100 });
    const caller = callers.with(limited);
    expect((await caller.chat({ model, max_tokens: 100 })).status).toBe(200);
    const refused = await caller.chat({ model, max_tokens: 100 });
    expect(codeOf(refused)).toEqual([401, 'token_exhausted']);
    const bare = limited.slice(3);
    expect(errorIn(refused).message).toContain(`sk-${bare.slice(0, 3)}***${bare.slice(-3)}`);
    expect(refused.text).not.toContain(bare);
    const row = await until(async () => {
      const found = await rowOf(limited);
      return found.status === 'exhausted' ? found : null;
    });
    expect(row).toMatchObject({ remain_quota: 0, used_quota: 100 });
    expect(gateway.provider.tally().calls).toBe(1);
  });

  test('that is disabled or deleted is refused', async () => {
    const { application } = gateway;
    const { id } = await rowOf(apiKey);
    const caller = callers.with(apiKey);
    await application.visible(await application.apiKeys.setStatus(user.actor, id, 'manual'));
    expect(codeOf(await caller.chat({ model }))).toEqual([401, 'token_disabled']);
    await application.visible(await application.apiKeys.setStatus(user.actor, id, 'enabled'));
    expect((await caller.chat({ model })).status).toBe(200);
    await application.visible(await application.apiKeys.remove(user.actor, id));
    expect(codeOf(await caller.chat({ model }))).toEqual([401, 'invalid_api_key']);
  });

  test('of a disabled user is refused until the user is enabled again', async () => {
    const { application, root } = gateway;
    await application.visible(await application.users.manage(root, user.actor.id, 'disable'));
    expect(codeOf(await callers.with(apiKey).chat({ model }))).toEqual([403, 'user_banned']);
    await application.visible(await application.users.manage(root, user.actor.id, 'enable'));
    expect((await callers.with(apiKey).chat({ model })).status).toBe(200);
  });
});

describe('an allow list of an API key', () => {
  const from = (key: string, address: string): Promise<Answer> =>
    callers.with(key).chat({ model }, { headers: { 'x-forwarded-for': address } });

  test('admits single addresses and ranges, of both families', async () => {
    const key = await gateway.addApiKey(user, { allowIps: ['203.0.113.7', ' 198.51.100.0/24, ', '', '2001:db8::/32'] });
    for (const address of ['203.0.113.7', '198.51.100.200', '2001:db8::1', '::ffff:203.0.113.7'])
      expect([address, (await from(key, address)).status]).toEqual([address, 200]);
    for (const address of ['203.0.113.8', '198.51.101.1', '2001:db9::1'])
      expect([address, ...codeOf(await from(key, address))]).toEqual([address, 403, 'ip_not_allowed']);
  });

  test('uses forwarding headers of the trusted proxy only', async () => {
    const key = await gateway.addApiKey(user, { allowIps: ['203.0.113.7'] });
    // The proxy says who called it last; what that one claims further left is hearsay.
    expect(codeOf(await from(key, '203.0.113.7, 192.0.2.1'))).toEqual([403, 'ip_not_allowed']);
    expect(codeOf(await callers.with(key).chat({ model }))).toEqual([403, 'ip_not_allowed']);
  });

  test('without a single readable line admits no caller', async () => {
    const key = await gateway.addApiKey(user, { allowIps: ['home', '203.0.113.7/99'] });
    expect(codeOf(await from(key, '203.0.113.7'))).toEqual([403, 'ip_not_allowed']);
  });

  test('is parsed once, and then costs later calls nothing', async () => {
    const listed = vi.spyOn(BlockList.prototype, 'addSubnet');
    const allowIps = Array.from({ length: 1000 }, (_, index) => `203.0.${index >> 8}.${index & 255}`);
    const key = await gateway.addApiKey(user, { allowIps });
    for (let call = 0; call < 5; call++) expect((await from(key, '203.0.3.7')).status).toBe(200);
    expect(listed).toHaveBeenCalledTimes(1000);
    listed.mockRestore();
  });

  test('applies to the model list as well', async () => {
    const key = await gateway.addApiKey(user, { allowIps: ['203.0.113.7'] });
    expect(codeOf(await callers.with(key).send('/v1/models'))).toEqual([403, 'ip_not_allowed']);
  });
});

describe('the models of an API key', () => {
  const listed = async (caller: Caller): Promise<string[]> => {
    const { data } = JSON.parse((await caller.send('/v1/models')).text) as { data: { id: string }[] };
    return data.map(({ id }) => id);
  };

  test('are the only ones that it lists and may use', async () => {
    const caller = callers.with(await gateway.addApiKey(user, { models: [model, 'not-served'] }));
    expect(await listed(caller)).toEqual([model]);
    expect((await caller.chat({ model })).status).toBe(200);
    expect(codeOf(await caller.chat({ model: 'gpt-4o' }))).toEqual([403, 'model_not_allowed']);
  });

  test('are an empty list when the key is limited to no model', async () => {
    const caller = callers.with(await gateway.addApiKey(user, { models: [] }));
    expect(await listed(caller)).toEqual([]);
    expect(codeOf(await caller.chat({ model }))).toEqual([403, 'model_not_allowed']);
  });
});

describe('the model rate limit', () => {
  const options = {
    ModelRequestRateLimitEnabled: 'true',
    ModelRequestRateLimitDurationMinutes: '2',
    ModelRequestRateLimitCount: '6',
    ModelRequestRateLimitSuccessCount: '3',
  };
  beforeAll(async () => {
    for (const [key, value] of Object.entries(options)) await gateway.setOption(key, value);
  });
  afterAll(() => gateway.setOption('ModelRequestRateLimitEnabled', 'false'));

  test('counts the successes of a user over all keys; a failure is refunded', async () => {
    const caller = callers.with(apiKey);
    const other = callers.with(await gateway.addApiKey(user));
    gateway.provider.script('gpt-4o', { kind: 'refuse', status: 500 });
    expect((await caller.chat({ model: 'gpt-4o' })).status).toBe(500);
    const statuses: number[] = [];
    for (const each of [caller, other, caller, other]) statuses.push((await each.chat({ model })).status);
    expect(statuses).toEqual([200, 200, 200, 429]);

    const refused = await caller.chat({ model });
    expect(codeOf(refused)).toEqual([429, 'rate_limit_exceeded']);
    expect(errorIn(refused).message).toContain('at most 3 requests per 2 minutes');
    expect(errorIn(refused).message).toMatch(/the next one is free in 1[0-2]\d seconds/);
    // No client is to sleep for so long.
    expect([refused.headers['retry-after'], refused.headers['x-should-retry']]).toEqual([undefined, 'false']);
  });

  test('counts failures in the total, and its own refusals nowhere', async () => {
    const caller = callers.with(apiKey);
    gateway.provider.script(model, { kind: 'refuse', status: 500 });
    const statuses: number[] = [];
    for (let call = 0; call < 8; call++) statuses.push((await caller.chat({ model })).status);
    expect(statuses).toEqual([500, 500, 500, 500, 500, 500, 429, 429]);
    expect(errorIn(await caller.chat({ model })).message).toContain(
      'at most 6 requests per 2 minutes, failed ones included',
    );
    expect(gateway.provider.tally().calls).toBe(6);
  });

  test('admits no more when all requests are concurrent', async () => {
    const caller = callers.with(apiKey);
    const answers = await Promise.all(Array.from({ length: 30 }, () => caller.chat({ model })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(27);
  });

  test('does not affect other users, nor any user once it is switched off', async () => {
    const caller = callers.with(apiKey);
    for (let call = 0; call < 4; call++) await caller.chat({ model });
    expect((await caller.chat({ model })).status).toBe(429);
    const neighbour = callers.with(await gateway.addApiKey(await gateway.addUser(1_000_000)));
    expect((await neighbour.chat({ model })).status).toBe(200);
    await gateway.setOption('ModelRequestRateLimitEnabled', 'false');
    expect((await caller.chat({ model })).status).toBe(200);
  });
});

describe('sensitive words', () => {
  beforeAll(() => gateway.setOption('SensitiveWords', 'Forbidden Fruit\n\n  umlaut-Ä  '));
  afterAll(() => gateway.setOption('SensitiveWords', ''));

  const ask = (path: string, body: Record<string, string | string[]>): Promise<Answer> =>
    callers.with(apiKey).send(path, { method: 'POST', body: { model, ...body } });

  test('are found in every part of a prompt, in any letter case, and cost nothing', async () => {
    const caller = callers.with(apiKey);
    const hits = [
      await caller.chat({ model, messages: [{ role: 'user', content: 'Who ate the FORBIDDEN fruit?' }] }),
      await caller.chat({
        model,
        messages: [
          { role: 'system', content: 'Say umlaut-ä.' },
          { role: 'user', content: 'Now.' },
        ],
      }),
      await caller.chat({
        model,
        messages: [{ role: 'user', content: [{ type: 'text', text: 'a forbidden fruit' }] }],
      }),
      await ask('/v1/completions', { prompt: ['fine', 'the forbidden fruit'] }),
      await ask('/v1/embeddings', { model: 'text-embedding-3-small', input: 'forbidden fruit' }),
    ];
    for (const answer of hits) {
      expect(codeOf(answer)).toEqual([400, 'sensitive_words_detected']);
      // Which word it was is the operator's business.
      expect(answer.text.toLowerCase()).not.toContain('fruit');
    }
    expect(gateway.provider.tally().calls).toBe(0);
    expect(await gateway.available(user)).toBe(10_000_000);
  });

  test('do not affect a prompt without them, nor any prompt when the check is off', async () => {
    const caller = callers.with(apiKey);
    expect((await caller.chat({ model })).status).toBe(200);
    await gateway.setOption('CheckSensitiveOnPromptEnabled', 'false');
    const answer = await caller.chat({ model, messages: [{ role: 'user', content: 'forbidden fruit' }] });
    await gateway.setOption('CheckSensitiveOnPromptEnabled', 'true');
    expect(answer.status).toBe(200);
  });
});

describe('a malformed request', () => {
  const bad: [string, Record<string, unknown> | string, string][] = [
    ['is no JSON', 'hello', 'invalid_request'],
    ['is no object', '[1]', 'invalid_request'],
    ['is empty', '', 'invalid_request'],
    ['names no model', { messages: [{ role: 'user', content: 'x' }] }, 'invalid_request'],
    ['has no messages', { model, messages: [] }, 'invalid_text_request'],
    ['asks for a fraction of a token', { model, max_tokens: 1.5 }, 'invalid_text_request'],
    ['asks for less than nothing', { model, max_tokens: -1 }, 'invalid_text_request'],
    ['asks for more than any model has', { model, max_completion_tokens: 2 ** 30 }, 'invalid_text_request'],
    ['asks for no choice', { model, n: 0 }, 'invalid_text_request'],
  ];

  test.each(bad)('because it %s is refused before a reservation', async (_, body, code) => {
    const caller = callers.with(apiKey);
    const answer =
      typeof body === 'string' ? await caller.chat({}, { body }) : await caller.chat(body as Record<string, string>);
    expect(codeOf(answer)).toEqual([400, code]);
    expect(gateway.provider.tally().calls).toBe(0);
    expect(await gateway.available(user)).toBe(10_000_000);
  });

  test('is read as JSON when it has no content type', async () => {
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'x' }] });
    const answer = await callers.with(apiKey).send('/v1/chat/completions', { method: 'POST', body });
    expect(answer.status).toBe(200);
  });
});
