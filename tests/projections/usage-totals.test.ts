import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Usage } from '../../src/domain/call/usage.js';
import type { UserId } from '../../src/domain/kernel/ids.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { Quota } from '../../src/domain/kernel/quota.js';
import { schemaOf } from '../../src/projections/engine/projection.js';
import { channelTestKeyName, logTypes, usageLog } from '../../src/projections/models/usage-log/usage-log.js';
import type { UsageLogFilter } from '../../src/projections/models/usage-log/usage-log-filter.js';
import { usageLogBefore } from '../../src/projections/models/usage-log/usage-log-queries.js';
import { type Summed, type UsageTotals, usageTotals } from '../../src/projections/models/usage-log/usage-totals.js';
import { eventId } from '../support/given/events.js';
import {
  alice,
  aliceKey,
  bob,
  bobKey,
  east,
  type Fact,
  ofChannel,
  option,
  refunded,
  registered,
  released,
  root,
  settled,
  setUp,
  usage,
  west,
  when,
} from './history.js';
import { forEachTest, type Projected } from './projected.js';

let projected: Projected;
forEachTest((fresh) => {
  projected = fresh;
});

const noon = Date.UTC(2026, 0, 31, 22);
const hour = 3_600_000;
const clock = (offset: number) => Instant(noon + offset);

/* A day's turn with everything that makes lines or takes them away. */

const models = ['gpt-4o', 'gpt-4o-mini', 'claude%sonnet', 'o_1'];
const groups = ['default', 'vip'];

const step = fc.record({
  kind: fc.oneof(
    { weight: 12, arbitrary: fc.constant('settled' as const) },
    { weight: 3, arbitrary: fc.constantFrom('refunded', 'tested', 'switched', 'released') },
  ),
  /** Since the step before; whole hours are hit exactly as well. */
  pause: fc.oneof(fc.integer({ min: 1, max: 600_000 }), fc.constantFrom(1, 1_000, hour)),
  ofAlice: fc.boolean(),
  /** A key may be called otherwise from one call to the next, but in many an hour has one name. */
  keyName: fc.oneof({ weight: 5, arbitrary: fc.constant('ci') }, { weight: 1, arbitrary: fc.constant('other') }),
  model: fc.constantFrom(...models),
  group: fc.constantFrom(...groups),
  channelId: fc.constantFrom(east, west),
  quota: fc.integer({ min: 0, max: 1_000 }),
  prompt: fc.integer({ min: 0, max: 500 }),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

function factsOf(steps: readonly Step[]): { facts: Fact[]; end: number } {
  const facts: Fact[] = [setUp(root), registered(alice, 'alice'), registered(bob, 'bob')];
  const open: { id: string; at: Instant; step: Step; used: Usage }[] = [];
  let logging = true;
  let now = 0;
  steps.forEach((each, index) => {
    const { kind, pause, ofAlice, keyName, model, group, channelId, quota, prompt } = each;
    // An hour begins exactly now and then.
    now = pause === hour ? Math.ceil((now + 1) / hour) * hour : now + pause;
    const at = clock(now);
    const of = {
      userId: ofAlice ? alice : bob,
      apiKeyId: ofAlice ? aliceKey : bobKey,
      apiKeyName: keyName,
      model,
      group,
    };
    const cachedInput = Math.min(prompt, 20);
    const used = { ...usage, input: prompt - cachedInput, cachedInput };
    const id = `call-${index}`;
    switch (kind) {
      case 'settled':
        facts.push(when(at, settled(id, 1_000, quota, { facts: of, channelId, usage: used })));
        open.push({ id, at, step: each, used });
        break;
      case 'released':
        facts.push(when(at, released(id, 1_000, { facts: of })));
        break;
      case 'switched':
        logging = !logging;
        facts.push(when(at, option('LogConsumeEnabled', String(logging))));
        break;
      case 'tested':
        facts.push(
          when(
            at,
            ofChannel(channelId, {
              type: 'ChannelTested',
              ok: true,
              responseTimeMs: 12.5,
              error: null,
              usage: {
                ...{ model, promptTokens: prompt, completionTokens: 2, quota: Quota(quota) },
                ...{ modelRatio: '1', completionRatio: '1', modelPrice: null },
              },
            }),
          ),
        );
        break;
      case 'refunded': {
        const back = open.pop();
        if (back === undefined) break;
        const { userId, apiKeyId } = back.step.ofAlice
          ? { userId: alice, apiKeyId: aliceKey }
          : { userId: bob, apiKeyId: bobKey };
        const settlement = {
          ...{ eventId: eventId(index, 0x5e77), at: back.at, charged: Quota(back.step.quota), usage: back.used },
          ...{ channelId: back.step.channelId, attempts: [back.step.channelId], useTimeMs: 2_100 },
        };
        const { keyName: apiKeyName, model, group } = back.step;
        const same = { userId, apiKeyId, apiKeyName, model, group };
        facts.push(when(at, refunded(back.id, back.step.quota, { facts: same, settlement })));
        break;
      }
    }
  });
  return { facts, end: now };
}

/** The list itself, added up. */
async function addedUp(filter: UsageLogFilter, of: Summed): Promise<UsageTotals> {
  const all = await usageLogBefore(projected.db, { ...filter, type: logTypes.consume }, { limit: 10_000 });
  const lines = all.filter(({ detail }) => of === 'both' || (detail?.kind === 'channel-tested') === (of === 'tests'));
  const sum = (value: (line: (typeof lines)[number]) => number) => lines.reduce((all, line) => all + value(line), 0);
  return {
    quota: Quota(sum(({ quota }) => quota)),
    requests: lines.length,
    prompt_tokens: sum((line) => line.prompt_tokens),
    completion_tokens: sum((line) => line.completion_tokens),
    cached_tokens: sum((line) => line.cached_tokens),
    reasoning_tokens: sum((line) => line.reasoning_tokens),
  };
}

describe('the total of the usage log', () => {
  test.each([1, 2, 3])('is the sum of its lines, for any range and filter (history %i)', async (seed) => {
    const [steps = []] = fc.sample(fc.noBias(fc.array(step, { minLength: 150, maxLength: 150 })), { seed, numRuns: 1 });
    expect(new Set(steps.map(({ kind }) => kind)).size).toBe(5);
    const { facts, end } = factsOf(steps);
    await projected.given(...facts);
    const inSeconds = fc.integer({ min: noon / 1000 - 7_200, max: Math.ceil((noon + end) / 1000) + 7_200 });
    const moment = fc.oneof(
      inSeconds,
      inSeconds.map((seconds) => Math.round(seconds / 3_600) * 3_600),
      inSeconds.map((seconds) => Math.round(seconds / 3_600) * 3_600 - 1),
    );
    const maybe = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
    const range = { from: maybe(moment), to: maybe(moment) };
    const filters = fc.record({
      ...range,
      userId: maybe(fc.constantFrom(alice, bob, root)),
      username: maybe(fc.constantFrom('alice', 'nobody')),
      apiKeyId: maybe(fc.constantFrom(aliceKey, bobKey)),
      apiKeyName: fc.option(fc.constantFrom('ci', 'other', 'none', channelTestKeyName), { nil: undefined, freq: 2 }),
      model: maybe(fc.constantFrom(...models, 'gpt%', '%o%', 'o_1', 'none')),
      channelId: maybe(fc.constantFrom(east, west)),
      group: maybe(fc.constantFrom(...groups, '')),
      requestId: fc.option(fc.constantFrom('call-1', 'call-2'), { nil: undefined, freq: 8 }),
    });
    expect((await usageTotals(projected.db, {}, 'calls')).requests).toBeGreaterThan(20);
    expect((await usageTotals(projected.db, {}, 'tests')).requests).toBeGreaterThan(0);
    const isAddedUp = async (filter: UsageLogFilter): Promise<void> => {
      for (const of of ['calls', 'tests', 'both'] as const)
        expect(await usageTotals(projected.db, filter, of)).toEqual(await addedUp(filter, of));
    };
    await isAddedUp({});
    await fc.assert(fc.asyncProperty(fc.record(range), isAddedUp), { numRuns: 50 });
    await fc.assert(fc.asyncProperty(filters, isAddedUp), { numRuns: 100 });
  });

  test('is computed without reading the lines of whole hours', async () => {
    const calls = [0, 10, hour, hour + 10, 2 * hour, 2 * hour + 10].map((offset, index) =>
      when(clock(offset), settled(`call-${index}`, 9, 10)),
    );
    const db = await projected.given(...calls);
    // Of the hour in the middle nothing is left to read.
    await projected.pool.query(
      `delete from ${schemaOf(usageLog)}.usage_log where created_at >= $1 and created_at < $2`,
      [(noon + hour) / 1000, (noon + 2 * hour) / 1000],
    );
    const range = { from: noon / 1000 + 5, to: noon / 1000 + 7_200 };
    expect(await usageTotals(db, range, 'calls')).toMatchObject({ requests: 4, quota: 40 });
    expect(await usageTotals(db, {}, 'calls')).toMatchObject({ requests: 6, quota: 60 });
    expect(await usageTotals(db, { apiKeyName: 'ci' }, 'calls')).toMatchObject({ requests: 6, quota: 60 });
  });

  test('is computed so also by the name of an API key and more, except for hours in which the key had two names', async () => {
    const of = (apiKeyName: string, more: object = {}) => ({
      facts: { userId: alice, apiKeyId: aliceKey, apiKeyName, model: 'gpt-4o', ...more },
      channelId: east,
    });
    const bobs = { facts: { userId: bob, apiKeyId: bobKey, apiKeyName: 'ci', model: 'gpt-4o' }, channelId: east };
    const db = await projected.given(
      when(clock(0), settled('before', 9, 1, of('ci'))),
      when(clock(1), settled('of another model', 9, 10, of('ci', { model: 'gpt-4o-mini' }))),
      when(clock(2), settled('of another channel', 9, 100, { ...of('ci'), channelId: west })),
      when(clock(hour), settled('as before', 9, 1_000, of('ci'))),
      when(clock(hour + 1), settled('renamed', 9, 10_000, of('other'))),
      when(clock(hour + 2), settled('of a namesake', 9, 100_000, bobs)),
      when(clock(2 * hour), settled('since', 9, 1_000_000, of('other'))),
    );
    const { pool } = projected;
    const forget = (user: UserId, hours: number) =>
      pool.query(`delete from ${schemaOf(usageLog)}.usage_log where user_id = $1 and created_at / 3600 = $2`, [
        user,
        noon / hour + hours,
      ]);
    // What is left is read where it has to be: of one key in one hour.
    await forget(alice, 0);
    await forget(alice, 2);
    await forget(bob, 1);
    const quotaOf = async (filter: UsageLogFilter) => (await usageTotals(db, filter, 'calls')).quota;
    const ofModel = { apiKeyName: 'ci', model: 'gpt-4o' };
    expect(await quotaOf(ofModel)).toBe(101_101);
    expect(await quotaOf({ ...ofModel, channelId: east })).toBe(101_001);
    expect(await quotaOf({ ...ofModel, userId: alice })).toBe(1_101);
    expect(await quotaOf({ apiKeyName: 'other', channelId: east })).toBe(1_010_000);
    expect(await quotaOf({ ...ofModel, from: (noon + hour) / 1000, to: (noon + 3 * hour) / 1000 - 1 })).toBe(101_000);
    await forget(alice, 1);
    expect(await quotaOf(ofModel)).toBe(100_101);
  });
});
