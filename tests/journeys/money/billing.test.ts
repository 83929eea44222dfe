import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Tokens } from '../../../src/demo/simulated-answers.js';
import { billingOf } from '../../../src/domain/pricing/billing.js';
import { chargeOf } from '../../../src/domain/pricing/pricing.js';
import { type Answer, type Caller, type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { receiptsOfAll } from '../../support/gateway/receipts.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';

/* What a call costs, from the options an operator sets to the figure in the log. */

const balance = 100_000_000;

let gateway: TestGateway;
let callers: Callers;
let user: TestUser;
let caller: Caller;

const ratios = {
  plain: 1.25,
  tiny: 0.001,
  small: 0.075,
  free: 0,
  embedder: 0.01,
  long: 1,
  thinker: 2,
  mapped: 3,
  other: 1000,
  'gpt-4o-audio-preview': 1.25,
};
const models = [...Object.keys(ratios), 'per-call', 'unpriced', 'free-call'];

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  await gateway.addChannel({ models, modelMapping: '{"mapped":"other"}' });
  await gateway.addChannel({ name: 'vip', models, groups: ['vip'] });
  await gateway.setOption('ModelRatio', JSON.stringify({ ...ratios, 'per-call': 500 }));
  await gateway.setOption('ModelPrice', '{"per-call":0.02,"free-call":0}');
  await gateway.setOption('CompletionRatio', '{"plain":4,"thinker":2,"small":1}');
  await gateway.setOption('CacheRatio', '{"plain":0.5}');
  await gateway.setOption('ReasoningRatio', '{"thinker":5}');
  await gateway.setOption('ContextTiers', '{"long":[{"over":300,"input":2,"output":1.5}]}');
  await gateway.setOption('GroupRatio', '{"default":1,"vip":0.33}');
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
});
beforeEach(async () => {
  gateway.provider.reset();
  user = await gateway.addUser(balance);
  caller = callers.with(await gateway.addApiKey(user));
});

/** The log line of an answered call, after the charge has been checked against line and balance. */
async function charged(answer: Answer) {
  expect(answer.status).toBe(200);
  const line = await lineOf(gateway, user, answer);
  expect(await gateway.available(user)).toBe(balance - line.quota);
  if (line.price === null) throw new Error('a line without a price');
  // Whoever has the line can work the charge out again.
  expect(chargeOf(line.usage, line.price)).toBe(line.quota);
  return line;
}

const use = async (model: string, tokens: Partial<Tokens>, by: Caller = caller) => {
  gateway.provider.script(model, { tokens });
  return charged(await by.chat({ model }));
};

describe('a prompt beyond the token limit of its price tier', () => {
  test.each([
    [300, 300 + 10],
    [301, 2 * 301 + 15],
  ])('makes the whole call more expensive: %d tokens cost %d', async (prompt, quota) => {
    expect((await use('long', { prompt, cached: 100, completion: 10 })).quota).toBe(quota);
  });
});

describe('the tokens of a call', () => {
  test('are charged by their own ratio if cached, by a multiple if output, all times the model’s', async () => {
    // (600 + 400 × 0.5 + 200 × 4) × 1.25
    const line = await use('plain', { prompt: 1_000, cached: 400, completion: 200 });
    expect(line).toMatchObject({ quota: 2_000, prompt_tokens: 1_000, cached_tokens: 400, completion_tokens: 200 });
  });

  test('of reasoning are charged by their ratio, within the completion', async () => {
    // (10 + 60 × 2 + 40 × 5) × 2
    const line = await use('thinker', { prompt: 10, completion: 100, reasoning: 40 });
    expect(line).toMatchObject({ quota: 660, completion_tokens: 100, reasoning_tokens: 40 });
  });

  test('are charged the same in a stream', async () => {
    gateway.provider.script('plain', { tokens: { prompt: 1_000, cached: 400, completion: 200 } });
    expect((await charged(await caller.chat({ model: 'plain', stream: true }))).quota).toBe(2_000);
  });

  test('of a minimal call cost at least one unit', async () => {
    expect((await use('tiny', { prompt: 1, completion: 1 })).quota).toBe(1);
  });

  test('are rounded once, half away from zero', async () => {
    // 0.075 × (19 + 1) = 1.5; 0.075 × (45 + 1) = 3.45
    expect((await use('small', { prompt: 19, completion: 1 })).quota).toBe(2);
    user = await gateway.addUser(balance);
    expect((await use('small', { prompt: 45, completion: 1 }, callers.with(await gateway.addApiKey(user)))).quota).toBe(
      3,
    );
  });

  test('of a free model cost nothing, and the call is logged', async () => {
    expect(await use('free', { prompt: 1_000, completion: 5_000 })).toMatchObject({ quota: 0, prompt_tokens: 1_000 });
  });

  test('of embeddings are the input only', async () => {
    gateway.provider.script('embedder', { tokens: { prompt: 1_000 } });
    const answer = await caller.send('/v1/embeddings', {
      method: 'POST',
      body: { model: 'embedder', input: ['a', 'b'] },
    });
    expect(await charged(answer)).toMatchObject({ quota: 10, completion_tokens: 0, path: '/v1/embeddings' });
  });

  test('are priced by the requested name, not by the one sent upstream', async () => {
    gateway.provider.script('other', { tokens: { prompt: 99, completion: 1 } });
    const line = await charged(await caller.chat({ model: 'mapped' }));
    expect(line).toMatchObject({ quota: 300, model: 'mapped', upstream_model: 'other' });
  });
});

describe('the audio of a call', () => {
  const model = 'gpt-4o-audio-preview';
  const tokens = { prompt: 120, audioInput: 100, completion: 60, audioOutput: 50 };
  /** Half a second of it, as far as its size shows. */
  const inputAudio = { data: Buffer.alloc(24_000).toString('base64'), format: 'wav' };
  const messages = [{ role: 'user', content: [{ type: 'input_audio', input_audio: inputAudio }] }];
  const spoken = { model, messages, modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } };
  // (20 + 100 × 40 + 10 × 4 + 50 × 80) × 1.25
  const cost = 10_075;

  test.each([false, true])(
    'is charged by its own ratios, in and out, and shown as charged (stream: %s)',
    async (stream) => {
      gateway.provider.script(model, { tokens });
      const answer = await caller.chat({ ...spoken, stream, stream_options: { include_usage: true } });
      expect(await charged(answer)).toMatchObject({
        quota: cost,
        usage_source: 'upstream',
        prompt_tokens: 120,
        completion_tokens: 60,
        usage: { input: 20, audioInput: 100, output: 10, audioOutput: 50 },
      });
      expect(answer.text).toContain('"audio_tokens":100');
      expect(answer.text).toContain('"audio_tokens":50');
    },
  );

  test('that was neither sent nor requested is not believed, because it costs many times as much as text', async () => {
    gateway.provider.script(model, { tokens });
    const line = await charged(await caller.chat({ model }));
    expect(line.usage_source).toBe('disbelieved');
    expect(line.usage).not.toHaveProperty('audioInput');
    expect(line.usage).not.toHaveProperty('audioOutput');
  });

  test('is reserved for in advance, and text of the same model is not reserved for as if it were audio', async () => {
    gateway.provider.script(model, { tokens: { prompt: 5, completion: 5 } });
    const limit = { max_tokens: 100 };
    const poor = await gateway.addUser(9_000);
    const theirs = callers.with(await gateway.addApiKey(poor));
    // 100 × 80 × 1.25 for the answer alone
    const refused = await theirs.chat({ ...spoken, ...limit });
    expect([refused.status, errorIn(refused).code]).toEqual([403, 'insufficient_user_quota']);
    expect((await theirs.chat({ model, ...limit })).status).toBe(200);
  });
});

describe('a group ratio', () => {
  test('multiplies the charge of its members', async () => {
    const vip = callers.with(await gateway.addApiKey(user, { group: 'vip' }));
    // 1.25 × (996 + 4) × 0.33 = 412.5
    expect(await use('plain', { prompt: 996, completion: 1 }, vip)).toMatchObject({ quota: 413, group: 'vip' });
  });
});

describe('a price per call', () => {
  test('is charged once, whatever the tokens, and takes precedence over a ratio', async () => {
    // 0.02 USD × 500000
    expect((await use('per-call', { prompt: 90_000, completion: 90_000 })).quota).toBe(10_000);
  });
  test('is multiplied by the group ratio, and reserved exactly', async () => {
    const limited = callers.with(await gateway.addApiKey(user, { group: 'vip', quota: 3_300 }));
    expect((await use('per-call', {}, limited)).quota).toBe(3_300);
    const refused = await limited.chat({ model: 'per-call' });
    expect([refused.status, errorIn(refused).code]).toEqual([401, 'token_exhausted']);
  });
  test('of zero is free', async () => {
    expect((await use('free-call', { prompt: 10, completion: 10 })).quota).toBe(0);
  });
  test('is charged for a stream that was partly delivered', async () => {
    gateway.provider.script('per-call', { chunks: 20, chunkDelayMs: 2, after: { frames: 5, then: 'reset' } });
    const line = await charged(await caller.chat({ model: 'per-call', stream: true }));
    expect(line).toMatchObject({ quota: 10_000, outcome: 'upstream-broke' });
  });
});

describe('the price list', () => {
  const query = `query ($group: String) { priceList(group: $group, size: 100) { items {
    name available price { __typename } unitPrices {
      input cachedInput cacheWrite output reasoning audioInput audioOutput call
    } } } }`;

  interface Listed {
    readonly name: string;
    readonly available: boolean;
    readonly unitPrices: Readonly<Record<string, string | null>> | null;
  }

  /** As anybody reads it, without a sign-in. */
  async function listed(model: string, group: string): Promise<Listed> {
    const { text } = await callers.with(null).send('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-tallygate-client': 'test' },
      body: { query, variables: { group } },
    });
    const { items } = (JSON.parse(text) as { data: { priceList: { items: Listed[] } } }).data.priceList;
    const found = items.find(({ name }) => name === model);
    if (found === undefined) throw new Error(`${model} is not in the list`);
    return found;
  }

  const sides = { reasoning: 'output', audioInput: 'input', audioOutput: 'output' } as Readonly<Record<string, string>>;
  const cases: readonly (readonly [string, Partial<Tokens>])[] = [
    ['plain', { prompt: 1_000, cached: 400, completion: 200 }],
    ['thinker', { prompt: 10, completion: 100, reasoning: 40 }],
    ['small', { prompt: 1_001, completion: 7 }],
    ['per-call', { prompt: 90_000, completion: 5 }],
    ['free', { prompt: 10, completion: 5 }],
  ];

  test.each(cases.flatMap(([model, tokens]) => ['default', 'vip'].map((group) => [model, group, tokens] as const)))(
    'shows for %s in the group %s what a call is then charged',
    async (model, group, tokens) => {
      const { available, unitPrices } = await listed(model, group);
      expect(available).toBe(true);
      const line = await use(model, tokens, callers.with(await gateway.addApiKey(user, { group })));
      if (line.price === null || unitPrices === null) throw new Error('there is no price');
      const reported = (quantity: string) => unitPrices[quantity] ?? unitPrices[sides[quantity] ?? ''];
      let sum = 0;
      for (const { quantity, count, unitPrice } of billingOf(line.usage, line.price).lines) {
        expect([quantity, reported(quantity)]).toEqual([quantity, unitPrice]);
        sum += count * Number(reported(quantity));
      }
      expect(Math.round(sum)).toBe(line.quota);
    },
  );

  test('shows separate prices for audio', async () => {
    const { unitPrices } = await listed('gpt-4o-audio-preview', 'default');
    expect(unitPrices).toMatchObject({ input: '1.25', audioInput: '50', output: '5', audioOutput: '100' });
  });

  test('has no price for a refused model', async () => {
    expect(await listed('unpriced', 'default')).toMatchObject({ available: false, unitPrices: null });
  });
});

describe('a model without a price', () => {
  const ask = () => caller.chat({ model: 'unpriced' });

  test('is refused and not listed', async () => {
    const answer = await ask();
    expect([answer.status, errorIn(answer).code]).toEqual([400, 'model_price_error']);
    expect(gateway.provider.tally().calls).toBe(0);
    expect((await caller.send('/v1/models')).text).not.toContain('unpriced');
  });

  test('is served at a fixed ratio to a user that accepts such models', async () => {
    const { application } = gateway;
    const settings = {
      notifyType: 'email',
      quotaWarningThreshold: 1_000,
      webhookUrl: '',
      webhookSecret: '',
      notificationEmail: '',
      acceptUnpricedModels: true,
    } as const;
    await application.visible(await application.users.changeSettings(user.actor, settings));
    // 37.5 × (2 + 3)
    expect((await use('unpriced', { prompt: 2, completion: 3 })).quota).toBe(188);
    expect((await caller.send('/v1/models')).text).toContain('unpriced');
  });

  test('is served to all where the operator is the only user', async () => {
    await gateway.setOption('SelfUseModeEnabled', 'true');
    expect((await ask()).status).toBe(200);
    await gateway.setOption('SelfUseModeEnabled', 'false');
    expect((await ask()).status).toBe(400);
  });
});

describe('usage that the upstream does not report', () => {
  test('is counted by the gateway and marked', async () => {
    gateway.provider.script('plain', { text: 'one two three four five', usage: 'never' });
    const line = await charged(await caller.chat({ model: 'plain' }));
    expect(line).toMatchObject({ usage_source: 'estimated', completion_tokens: 5, cached_tokens: 0 });
    expect(line.prompt_tokens).toBeGreaterThan(5);
  });
});

test('prices changed while the gateway serves apply from the next call on', async () => {
  expect((await use('plain', { prompt: 96, completion: 1 })).quota).toBe(125);
  await gateway.setOption('ModelRatio', JSON.stringify({ ...ratios, plain: 2 }));
  user = await gateway.addUser(balance);
  expect((await use('plain', { prompt: 96, completion: 1 }, callers.with(await gateway.addApiKey(user)))).quota).toBe(
    200,
  );
  await gateway.setOption('ModelRatio', JSON.stringify(ratios));
});

test('each of these calls has a receipt that gives its charge', async () => {
  const { served, wrong } = await receiptsOfAll(gateway);
  expect(served).toBeGreaterThan(20);
  expect(wrong).toEqual([]);
});
