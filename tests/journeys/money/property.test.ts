import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withDatabase } from '../../../src/cli/database.js';
import type { ApiKeyId, ChannelId } from '../../../src/domain/kernel/ids.js';
import { type Callers, openCallers } from '../../support/callers/callers.js';
import { expectLedgersToAgree, ledgerAtRest, ownedBy } from '../../support/gateway/ledger-snapshot.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { apiKeyTerms } from '../../support/given/api-key-terms.js';
import { dumpAroundRebuild } from '../../support/postgres/read-model-dump.js';
import { quietLog } from '../../support/quiet-log.js';

/*
 * Random days in the life of two users with three keys. Whatever happens: what somebody has is what was given minus what
 * was charged, the ledger sums to zero, nothing stays held, and the read models are nothing but a fold of the log.
 */

const manners = [
  'json',
  'stream',
  'refused',
  'retried',
  'reset',
  'cut',
  'failing',
  'overrun',
  'leaves',
  'impatient',
] as const;
type Manner = (typeof manners)[number];

type Step =
  | { readonly kind: 'give'; readonly user: number; readonly delta: number; readonly gift: number }
  | { readonly kind: 'set balance'; readonly user: number; readonly quota: number }
  | {
      readonly kind: 'call';
      readonly calls: readonly { readonly key: number; readonly manner: Manner; readonly maxTokens: number | null }[];
    }
  | { readonly kind: 'edit key'; readonly key: number; readonly quota: number; readonly unlimited: boolean }
  | { readonly kind: 'switch key'; readonly key: number; readonly on: boolean }
  | { readonly kind: 'switch user'; readonly user: number; readonly on: boolean }
  | { readonly kind: 'switch channel'; readonly on: boolean }
  | { readonly kind: 'rename'; readonly user: number; readonly displayName: string };

const user = fc.nat({ max: 1 });
const key = fc.nat({ max: 2 });
const quota = fc.oneof(fc.nat({ max: 300 }), fc.nat({ max: 1_000_000 }));

const call = fc.record({
  key,
  manner: fc.constantFrom(...manners),
  maxTokens: fc.option(fc.integer({ min: 1, max: 200 }), { nil: null }),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('call' as const), calls: fc.array(call, { minLength: 1, maxLength: 8 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('give' as const),
      user,
      delta: fc.integer({ min: -500, max: 20_000 }),
      gift: fc.nat({ max: 50 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('set balance' as const), user, quota }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('edit key' as const), key, quota, unlimited: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('switch key' as const), key, on: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('switch user' as const), user, on: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('switch channel' as const), on: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('rename' as const), user, displayName: fc.string({ maxLength: 20 }) }),
  },
);

let gateway: TestGateway;
let callers: Callers;
let spareChannel: ChannelId;

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  await gateway.setOption('ModelRatio', JSON.stringify(Object.fromEntries(manners.map((manner) => [manner, 0.37]))));
  await gateway.setOption('RetryTimes', '1');
  const models = manners.filter((manner) => manner !== 'retried');
  await gateway.addChannel({ name: 'main', models, autoBan: false });
  await gateway.addChannel({ name: 'out', models: ['retried'], modelMapping: '{"retried":"refused"}', priority: 1 });
  spareChannel = await gateway.addChannel({ name: 'spare', models: ['retried'], modelMapping: '{"retried":"json"}' });
  const { provider } = gateway;
  provider.script('refused', { kind: 'refuse', status: 503 });
  provider.script('reset', { kind: 'reset' });
  provider.script('cut', { chunks: 30, chunkDelayMs: 2, after: { frames: 6, then: 'reset' } });
  provider.script('failing', { chunks: 30, chunkDelayMs: 2, after: { frames: 6, then: 'error' } });
  provider.script('overrun', { tokens: { prompt: 900, completion: 900 } });
  provider.script('leaves', { endless: true, chunkDelayMs: 1 });
  provider.script('impatient', { firstByteDelayMs: 40 });
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
});

interface Cast {
  readonly users: readonly TestUser[];
  readonly keys: readonly { readonly id: ApiKeyId; readonly owner: TestUser; readonly text: string }[];
}

async function newCast(): Promise<Cast> {
  const users = [await gateway.addUser(20_000), await gateway.addUser(3_000)];
  const keys = [];
  for (const [owner, limit] of [
    [0, undefined],
    [0, 5_000],
    [1, undefined],
  ] as const) {
    const holder = users[owner];
    if (holder === undefined) throw new Error('no such user');
    const text = await gateway.addApiKey(holder, { quota: limit });
    const { items } = await gateway.application.queries.apiKeys(holder.actor, { page: 1, size: 10 });
    const id = items.find((row) => `sk-${row.key}` === text)?.id;
    if (id === undefined) throw new Error('the key cannot be found');
    keys.push({ id, owner: holder, text });
  }
  return { users, keys };
}

const member = <Item>(items: readonly Item[], index: number): Item => {
  const item = items[index];
  if (item === undefined) throw new Error(`there is no number ${index}`);
  return item;
};

/** Does what the manner says and takes whatever comes: refusals and broken connections are part of the day. */
async function makeCall(apiKey: string, manner: Manner, maxTokens: number | null): Promise<void> {
  const caller = callers.with(apiKey);
  const body = {
    model: manner,
    stream: ['stream', 'cut', 'failing', 'leaves'].includes(manner),
    ...(maxTokens !== null && { max_tokens: maxTokens }),
  };
  const impatience = new AbortController();
  if (manner === 'impatient') {
    const before = gateway.provider.tally().byModel.impatient ?? 0;
    const look = setInterval(() => {
      if ((gateway.provider.tally().byModel.impatient ?? 0) > before) impatience.abort();
    }, 1);
    impatience.signal.addEventListener('abort', () => clearInterval(look));
    await caller.chat(body, { signal: impatience.signal }).catch(() => null);
    clearInterval(look);
    return;
  }
  await caller.chat(body, manner === 'leaves' ? { enough: (text) => text.length > 900 } : {});
}

async function take(step: Step, { users, keys }: Cast): Promise<void> {
  const { application, root } = gateway;
  switch (step.kind) {
    case 'give':
      await application.users.adjustQuota(root, member(users, step.user).actor.id, {
        delta: step.delta,
        gift: step.gift,
      });
      return;
    case 'set balance': {
      const patch = { username: null, password: null, displayName: null, group: null, role: null };
      await application.users.edit(root, member(users, step.user).actor.id, { ...patch, quota: step.quota });
      return;
    }
    case 'call':
      await Promise.all(
        step.calls.map(({ key, manner, maxTokens }) => makeCall(member(keys, key).text, manner, maxTokens)),
      );
      return;
    case 'edit key': {
      const { id, owner } = member(keys, step.key);
      const row = await application.queries.apiKey(owner.actor, id);
      await application.apiKeys.edit(owner.actor, id, {
        quota: step.quota,
        terms: apiKeyTerms({ name: row.name, unlimited: step.unlimited }),
      });
      return;
    }
    case 'switch key': {
      const { id, owner } = member(keys, step.key);
      // A key with nothing left may not be switched on: that refusal is a fine day's work, too.
      await application.apiKeys.setStatus(owner.actor, id, step.on ? 'enabled' : 'manual').catch(() => null);
      return;
    }
    case 'switch user':
      await application.users.manage(root, member(users, step.user).actor.id, step.on ? 'enable' : 'disable');
      return;
    case 'switch channel':
      await application.channels.setEnabled(root, spareChannel, step.on);
      return;
    case 'rename': {
      const patch = { username: null, password: null, displayName: step.displayName };
      await application.users.changeOwnProfile(member(users, step.user).actor, patch);
      return;
    }
  }
}

test('balances are grants minus settlements, the ledger sums to zero, and a rebuild changes no row, with any sequence of events', async () => {
  let days = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      const cast = await newCast();
      for (const step of steps) await take(step, cast);
      await withDatabase(gateway.config, quietLog, async (database) => {
        const books = await ledgerAtRest(database);
        await expectLedgersToAgree(database, books);
        for (const { actor } of cast.users)
          expect(await gateway.application.gate.available(actor.id)).toBe(ownedBy(books, actor.id));
        // Days follow each other in one log: a rebuild after the third folds those before it anew as well.
        if (++days % 3 !== 0) return;
        const { before, after } = await dumpAroundRebuild(database);
        expect(after).toEqual(before);
      });
    }),
    { seed: 20261121, numRuns: 12, endOnFailure: true },
  );
}, 120_000);

test('the generated days were eventful: calls ended in every possible way', async () => {
  const { events } = await withDatabase(gateway.config, quietLog, ledgerAtRest);
  const endings = new Set(
    events.map(({ event }) => {
      if (event.type === 'CallSettled') return event.outcome;
      return event.type === 'CallReleased' ? event.reason : event.type;
    }),
  );
  for (const ending of [
    'completed',
    'caller-left',
    'upstream-broke',
    'upstream-failed',
    'ApiKeyDisabled',
    'UserDisabled',
  ])
    expect(endings).toContain(ending);
});
