import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withDatabase } from '../../src/cli/database.js';
import { pastDays } from '../../src/demo/past/write-past.js';
import { type Demo, startDemo } from '../../src/demo/start-demo.js';
import { beginning, type Recorded } from '../../src/domain/events/events.js';
import { movementsOf } from '../../src/domain/ledger/movements.js';
import { isSound, verifyLedger } from '../../src/projections/models/ledger/verify-ledger.js';
import { openReadModels } from '../../src/projections/read-models.js';
import { readLog } from '../support/gateway/ledger-snapshot.js';
import { configFor } from '../support/gateway/test-gateway.js';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres/postgres.js';
import { quietLog } from '../support/quiet-log.js';

const dayMs = 86_400_000;
const password = 'password-of-the-demo';

let database: TestDatabase;
let demo: Demo;
let events: readonly Recorded[];
/** Before anything of the demo was written, and after all of it. */
let startedAt: number;
let readyAt: number;

const start = () => startDemo(configFor(database), quietLog, async () => password);
const log = () => withDatabase(configFor(database), quietLog, readLog);

beforeAll(async () => {
  database = await createEmptyDatabase();
  startedAt = Date.now();
  demo = await start();
  readyAt = Date.now();
  events = await log();
}, 300_000);

afterAll(async () => {
  await demo?.gateway.stop();
  await demo?.provider.stop();
  await demo?.taskServer.stop();
  await database?.drop();
});

const ofType = <Type extends Recorded['event']['type']>(type: Type) =>
  events.flatMap(({ event, at }) =>
    event.type === type ? [{ at, event: event as Extract<Recorded['event'], { type: Type }> }] : [],
  );

const range = () => ({ from: Math.floor(startedAt / 1000) - pastDays * 86_400, to: Math.floor(readyAt / 1000) });

describe('the generated past of a demo', () => {
  test('is thirty days of calls, none of them in the future', () => {
    expect(ofType('CallReserved').length).toBeGreaterThan(20_000);
    expect(ofType('CallReserved').length).toBeLessThan(45_000);
    expect(Math.max(...events.map(({ at }) => at))).toBeLessThanOrEqual(readyAt);
    expect(Math.min(...events.map(({ at }) => at))).toBeLessThan(startedAt - (pastDays - 1) * dayMs);
    const days = new Set(ofType('CallReserved').map(({ at }) => Math.floor(at / dayMs)));
    expect(days.size).toBeGreaterThanOrEqual(pastDays);
  });

  test('has each call reserved before its one outcome, or refused and nothing else', () => {
    const stories = new Map<string, Recorded[]>();
    for (const recorded of events)
      if (recorded.stream.startsWith('call-'))
        stories.set(recorded.stream, [...(stories.get(recorded.stream) ?? []), recorded]);
    const kinds = new Set([...stories.values()].map((story) => story.map(({ event }) => event.type).join(' ')));
    expect([...kinds].sort()).toEqual(['CallRefused', 'CallReserved CallReleased', 'CallReserved CallSettled']);
    for (const [first, second] of stories.values())
      if (second) expect(second.at).toBeGreaterThanOrEqual(first?.at ?? 0);
  });

  test('never spends more than a balance', () => {
    const left = new Map<number, bigint>();
    for (const recorded of events)
      for (const { postings } of movementsOf(recorded)) {
        for (const posting of postings)
          if (posting.owner === 'user' && posting.part === 'available')
            left.set(posting.id, (left.get(posting.id) ?? 0n) + posting.amount);
        for (const balance of left.values()) if (balance < 0n) expect.fail(`${balance} is left for somebody`);
      }
    // And the root user.
    expect(left.size).toBe(demo.seeded.people.length + 1);
  });

  test('agrees with every balance', async () => {
    await withDatabase(configFor(database), quietLog, async ({ pool, store }) => {
      expect(isSound(await verifyLedger(openReadModels(pool), store))).toBe(true);
    });
    const { gate } = demo.gateway.application;
    const charged = ofType('CallSettled').reduce((sum, { event }) => sum + event.charged, 0);
    const given = events.flatMap(movementsOf).filter(({ call }) => call === null);
    const credited = given
      .flatMap(({ postings }) => postings)
      .reduce((sum, posting) => (posting.owner === 'user' ? sum + Number(posting.amount) : sum), 0);
    const balances = await Promise.all([demo.seeded.root, ...demo.seeded.people].map(({ id }) => gate.available(id)));
    expect(balances.reduce((sum: number, balance) => sum + balance, 0)).toBe(credited - charged);
  });

  test('has income from payments, codes and gifts', () => {
    for (const type of ['TopUpCompleted', 'TopUpExpired', 'RedemptionCodeRedeemed', 'QuotaAdjusted'] as const)
      expect(ofType(type).length, type).toBeGreaterThan(0);
  });

  test('has calls that a second channel has answered, and some that none has', () => {
    const rescued = ofType('CallSettled').filter(({ event }) => event.failedAttempts !== undefined);
    expect(rescued.length).toBeGreaterThan(100);
    const causes = new Set(ofType('CallReleased').map(({ event }) => event.code));
    expect([...causes]).toEqual(expect.arrayContaining(['content_filter', 'rate_limit_exceeded', 'server_error']));
  });

  test('has refusals by cause, single ones and totals', () => {
    const codes = new Set(ofType('CallRefused').map(({ event }) => event.refusal.code));
    expect([...codes].sort()).toEqual([
      'insufficient_user_quota',
      'invalid_api_key',
      'model_not_found',
      'model_price_error',
    ]);
    expect(ofType('CallsRefused').length).toBeGreaterThan(0);
  });

  test('is visible in every chart', async () => {
    const { application } = demo.gateway;
    const { root } = demo.seeded;
    const asked = { range: { ...range(), interval: 'day', zone: 'UTC' }, filter: {}, top: 5, order: 'quota' } as const;
    for (const by of ['model', 'channel_id', 'user_id', 'api_key_id', 'group'] as const) {
      const { pieces, shares, total } = await application.queries.history(root, { ...asked, by }, false);
      expect(shares.length, by).toBeGreaterThan(1);
      expect(pieces.slice(1, -1).filter(({ requests }) => requests === 0)).toEqual([]);
      for (const figure of [total.errors, total.cached_tokens, total.latency.p95, total.firstToken.p95])
        expect(figure).toBeGreaterThan(0);
    }
    expect((await application.queries.failures(root, range(), false)).length).toBeGreaterThan(5);
  });

  test('has a channel that was disabled and enabled, each with a reason', async () => {
    const { queries } = demo.gateway.application;
    const { root, channels } = demo.seeded;
    const channelId = channels.get('flaky') ?? null;
    if (channelId === null) throw new Error('there is no flaky channel');
    const { items } = await queries.channelHistory(root, { channelId, part: null, before: null, first: 200 });
    const switches = events.filter(({ stream }) => stream === `channel-${channelId}`).map(({ event }) => event);
    const out = switches.filter((event) => event.type === 'ChannelDisabled');
    expect(out.length).toBeGreaterThan(4);
    expect(switches.filter((event) => event.type === 'ChannelEnabled')).toHaveLength(out.length);
    for (const event of out) if (event.type === 'ChannelDisabled') expect(event.reason).toContain('invalid_api_key');
    expect(items.length).toBeGreaterThan(50);
    expect((await queries.channelFailures(root, { channelId, ...range() })).length).toBeGreaterThan(3);
    const { items: options } = await queries.optionHistory(root, { key: null, before: null, first: 50 });
    expect(options.length).toBeGreaterThan(6);
  });

  test('is written once: the next start adds no call and no quota', async () => {
    await demo.gateway.stop();
    await Promise.all([demo.provider.stop(), demo.taskServer.stop()]);
    demo = await start();
    const added = (await log()).slice(events.length).map(({ event }) => event.type);
    // The simulated provider listens elsewhere, and the channels are changed.
    expect(new Set(added)).toEqual(new Set(['ChannelEdited']));
    expect(added).toHaveLength(demo.seeded.channels.size);
  }, 120_000);
});

describe('the live traffic of a demo', () => {
  test('continues with new calls, and ends without an error', async () => {
    const end = demo.begin();
    try {
      const { tail, queries } = demo.gateway.application;
      await expect
        .poll(() => queries.traffic(demo.seeded.root).total.requestsPerMinute, { timeout: 60_000, interval: 200 })
        .toBeGreaterThan(3);
      expect(tail.position() > (events.at(-1)?.position ?? beginning)).toBe(true);
    } finally {
      await end();
    }
  }, 90_000);
});
