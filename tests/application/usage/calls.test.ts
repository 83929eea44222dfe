import { beforeEach, describe, expect, test } from 'vitest';
import type { PriceOrigin } from '../../../src/application/prices/price-origins.js';
import { type CallView, callQueries } from '../../../src/application/usage/calls.js';
import { secretReferences } from '../../../src/domain/events/secret-references.js';
import type { Price } from '../../../src/domain/pricing/pricing.js';
import type { Actor } from '../../../src/domain/user/user.js';
import type { ProjectionRunner } from '../../../src/projections/engine/runner.js';
import {
  alice,
  at,
  bob,
  changedBy,
  east,
  option,
  pricesChanged,
  refunded,
  released,
  reserved,
  root as rootId,
  settled,
  west,
  when,
} from '../../projections/history.js';
import { forEachTest, type Projected } from '../../projections/projected.js';

/* One call by its id, over a log in memory and real read models. */

const owner: Actor = { id: alice, role: 'ordinary' };
const other: Actor = { id: bob, role: 'ordinary' };
const admin: Actor = { id: bob, role: 'admin' };
const root: Actor = { id: rootId, role: 'root' };

let projected: Projected;
let progress: ProjectionRunner;
let queries: ReturnType<typeof callQueries>;
forEachTest(
  (fresh) => {
    projected = fresh;
  },
  'emptied',
  'dense',
);
beforeEach(async () => {
  progress = await projected.start();
  queries = callQueries({ db: projected.db, progress, store: projected.store });
});

const seen = async (viewer: Actor, id: string): Promise<CallView> => {
  const call = await queries.call(viewer, id);
  if (call === null) throw new Error('the call was not found');
  return call;
};

describe('a call', () => {
  test('is visible to its owner and to administrators; for others it does not exist', async () => {
    await projected.record(reserved('a1', 9), settled('a1', 9, 7));
    expect((await seen(owner, 'a1')).status).toBe('settled');
    expect((await seen(admin, 'a1')).status).toBe('settled');
    expect(await queries.call(other, 'a1')).toBeNull();
    for (const id of ['never', '', 'a1 ', "a1'--", 'x'.repeat(10_000)]) expect(await queries.call(root, id)).toBeNull();
  });

  test('is visible while it is in flight, with its reservation', async () => {
    await projected.record(reserved('a1', 9));
    expect(await seen(owner, 'a1')).toMatchObject({ status: 'under-way', reserved: 9, promptTokens: 120, end: null });
    expect(queries.billingOfCall(await seen(owner, 'a1'))).toBeNull();
  });

  test('is visible while no read model has it', async () => {
    await projected.given(reserved('a1', 9), settled('a1', 9, 7));
    await projected.db.deleteFrom('usage_log').execute();
    expect((await seen(owner, 'a1')).end).toMatchObject({ charged: 7, outcome: 'completed' });
  });

  test('that failed costs nothing; and so does one whose answer was withheld', async () => {
    await projected.record(
      ...[reserved('a1', 9), released('a1', 9)],
      ...[reserved('a2', 9), settled('a2', 9, 7), refunded('a2', 7)],
    );
    expect(await seen(owner, 'a1')).toMatchObject({
      status: 'released',
      end: { charged: 0, releaseReason: 'upstream-failed', status: 502, code: 'upstream_error' },
    });
    expect(await seen(owner, 'a2')).toMatchObject({
      status: 'refunded',
      refunded: 7,
      end: { charged: 0, releaseReason: 'not-booked', status: 503, usage: null },
    });
  });

  test('has a calculation that results in its charge', async () => {
    await projected.record(reserved('a1', 999), settled('a1', 999, 299));
    const call = await seen(owner, 'a1');
    expect(queries.billingOfCall(call)?.total).toBe(call.end?.charged);
  });
});

describe('a call that was served at another tier than it was reserved for', () => {
  test('has the calculation of the tier that its answer reports', async () => {
    const usage = { input: 100, output: 10 };
    const plain = { per: 'token', model: '1', ratios: { output: '4' }, group: '1' } as const;
    const others = { flex: '0.5', default: '1' };
    await projected.record(
      reserved('a1', 999, { price: { ...plain, service: { tier: 'default', factor: '1', others } } }),
      settled('a1', 999, 70, { usage, price: { ...plain, service: { tier: 'flex', factor: '0.5' } } }),
    );
    const call = await seen(owner, 'a1');
    expect(queries.billingOfCall(call)).toMatchObject({ total: 70, serviceTier: 'flex', serviceFactor: '0.5' });
    const found = await queries.priceOriginsOf(owner, call);
    expect(found).toContainEqual({
      factor: 'service:flex',
      value: '0.5',
      option: 'ServiceTiers',
      entry: 'gpt-4o',
      inRecord: false,
      setBy: 'built-in',
    });
  });
});

describe('the events of a call', () => {
  const channels = {
    channelId: west,
    attempts: [east, west],
    failedAttempts: [{ channelId: east, status: 500, code: 'bad_response', durationMs: 12 }],
    suspense: 5 as never,
  };
  const record = (): Promise<unknown> =>
    projected.record(
      ...[reserved('a1', 9), settled('a1', 9, 7, channels), refunded('a1', 7)],
      ...[reserved('a2', 9), released('a2', 9, { attempts: [east, west], suspense: 5 as never })],
    );
  const shown = async (viewer: Actor) => [...(await seen(viewer, 'a1')).events, ...(await seen(viewer, 'a2')).events];

  test('are shown whole to administrators', async () => {
    await record();
    const events = await shown(admin);
    expect(events.map(({ type }) => type)).toEqual([
      ...['CallReserved', 'CallSettled', 'CallRefunded', 'CallReserved', 'CallReleased'],
    ]);
    expect(events[1]?.payload).toMatchObject({ channelId: west, attempts: [east, west], suspense: 5, charged: 7 });
    expect((await seen(admin, 'a1')).attempts).toEqual([
      { channelId: east, from: 0, to: 12, failure: { status: 500, code: 'bad_response', durationMs: 12 } },
      { channelId: west, from: 12, to: 2_100, failure: null },
    ]);
    expect((await seen(owner, 'a1')).attempts).toEqual([]);
  });

  test('are shown to their caller without channels and upstream costs', async () => {
    await record();
    const events = await shown(owner);
    expect(events[1]?.payload).toMatchObject({ charged: 7, usage: expect.anything(), price: expect.anything() });
    const text = JSON.stringify([events, await seen(owner, 'a1'), await seen(owner, 'a2')]);
    for (const hidden of ['channelId', 'bad_response', 'attempts":[3', 'suspense":5', 'settlement'])
      expect(text).not.toContain(hidden);
  });

  test('of a later release are hidden from their caller unless this release knows them', async () => {
    const settledLater = settled('a1', 9, 7);
    const planted = { ...settledLater.event, upstreamAddress: 'https://planted.example' } as never;
    await projected.record(reserved('a1', 9), { ...settledLater, event: planted });
    expect(JSON.stringify(await seen(owner, 'a1'))).not.toContain('planted');
    expect(JSON.stringify(await seen(admin, 'a1'))).toContain('planted');
  });

  test('contain no secret', () => {
    for (const { event } of [reserved('a', 1), settled('a', 1, 1), released('a', 1), refunded('a', 1)])
      expect(secretReferences(event)).toBeNull();
  });
});

describe('the price of a call', () => {
  const origins = async (viewer: Actor, id: string): Promise<Record<string, PriceOrigin>> => {
    const found = await queries.priceOriginsOf(viewer, await seen(viewer, id));
    return Object.fromEntries(found.map((origin) => [origin.factor, origin]));
  };
  const ratios = (ratio: number, others: object = {}): { text: string } => ({
    text: JSON.stringify({ 'gpt-4o': ratio, ...others }),
  });

  test('is shown with the option of each factor; an unchanged one is built in', async () => {
    await projected.given(reserved('a1', 9));
    expect(await origins(root, 'a1')).toMatchObject({
      model: { value: '1.25', option: 'ModelRatio', entry: 'gpt-4o', setBy: 'built-in' },
      // What this model puts out has a ratio that no option changes.
      output: { value: '4', option: null, entry: null, setBy: 'built-in' },
      cachedInput: { value: '0.5', option: 'CacheRatio', entry: 'gpt-4o', setBy: 'built-in' },
      cacheWrite: { value: '1.25', option: null, entry: null, setBy: 'built-in' },
      group: { value: '1', option: 'GroupRatio', entry: 'default', setBy: 'built-in' },
    });
  });

  test('is shown with the change that set the value, not with later ones of other entries or after the call', async () => {
    await projected.given(
      option('ModelRatio', ratios(3).text),
      when(at(10), changedBy(bob, 'ModelRatio', ratios(1.25))),
      when(at(20), changedBy(rootId, 'ModelRatio', ratios(1.25, { 'gpt-4o-mini': 9 }))),
      reserved('a1', 9),
      changedBy(rootId, 'ModelRatio', ratios(7)),
    );
    const { model } = await origins(root, 'a1');
    expect(model?.setBy).toEqual({ at: at(10), by: bob, position: 1 });
  });

  test('is shown with the value in effect, where the newest change had not been read', async () => {
    await projected.given(
      changedBy(bob, 'ModelRatio', ratios(1.25)),
      option('ModelRatio', ratios(7).text),
      reserved('a1', 9),
    );
    expect((await origins(root, 'a1')).model?.setBy).toMatchObject({ by: bob, position: 0 });
  });

  test('is shown with the author of a change to root only', async () => {
    await projected.given(changedBy(bob, 'ModelRatio', ratios(1.25)), reserved('a1', 9));
    for (const viewer of [owner, admin])
      expect((await origins(viewer, 'a1')).model?.setBy).toEqual({ at: at(), by: null, position: null });
  });

  test('is of unknown origin, rather than guessed, where the history exceeds the search', async () => {
    const changes = Array.from({ length: 30 }, (_, n) => option('ModelRatio', ratios(1.25, { other: n }).text));
    await projected.given(...changes, reserved('a1', 9));
    expect((await origins(root, 'a1')).model?.setBy).toBe('unknown');
  });

  test('is shown with the change of the record that states it, also where a newer one had not been read', async () => {
    const record = [
      { tokens: { input: { usd: '2.5' }, output: { ratio: '3' } }, pieces: { 'calls:web_search': '0.01' } },
    ];
    const price: Price = {
      per: 'token',
      model: '1.25',
      ratios: { output: '3', cacheWrite: '1', cacheWriteHour: '1' },
      pieces: { dollars: { 'calls:web_search': '0.01', 'calls:google_search': '0.014' }, quotaPerUnit: '500000' },
      group: '1',
    };
    await projected.given(
      when(at(10), pricesChanged(bob, { 'gpt-4o': record })),
      pricesChanged(rootId, { 'gpt-4o': [{ call: '1' }], other: record }),
      reserved('a1', 9, { price }),
    );
    const setBy = { at: at(10), by: bob, position: 0 };
    expect(await origins(root, 'a1')).toMatchObject({
      model: { value: '1.25', option: null, entry: 'gpt-4o', inRecord: true, setBy },
      output: { value: '3', inRecord: true, setBy },
      'calls:web_search': { inRecord: true, setBy },
      'calls:google_search': { option: 'ToolPrice', inRecord: false },
      group: { option: 'GroupRatio', inRecord: false, setBy: 'built-in' },
    });
  });

  test('is of unknown origin while the history is not yet available', async () => {
    await projected.given(reserved('a1', 9));
    const behind = callQueries({ db: projected.db, store: projected.store, progress: { reached: async () => false } });
    const found = await behind.priceOriginsOf(root, await seen(root, 'a1'));
    expect(found.find(({ factor }) => factor === 'model')?.setBy).toBe('unknown');
  });

  test('of a call with a price of its own, and of tools, is shown as such', async () => {
    const tools = JSON.stringify({ web_search: 10, 'web_search:gpt-4o*': 30 });
    await projected.given(
      changedBy(bob, 'ModelPrice', ratios(0.02)),
      changedBy(bob, 'ToolPrice', { text: tools }),
      changedBy(bob, 'QuotaPerUnit', { text: '500000' }),
      reserved('a1', 9, {
        price: {
          per: 'call',
          price: '0.02',
          quotaPerUnit: '500000',
          group: '1',
          pieces: { dollars: { 'calls:web_search': '0.03' }, quotaPerUnit: '500000' },
        },
      }),
    );
    expect(await origins(root, 'a1')).toMatchObject({
      price: { option: 'ModelPrice', setBy: { position: 0 } },
      'calls:web_search': { value: '30', option: 'ToolPrice', entry: 'web_search', setBy: { position: 1 } },
      quotaPerUnit: { option: 'QuotaPerUnit', entry: null, setBy: { position: 2 } },
    });
  });

  const tiered = {
    per: 'token',
    model: '1.25',
    ratios: { output: '4', cachedInput: '0.1', imageOutput: '0' },
    tiers: [
      { over: 200_000, ratios: { input: '2', output: '6', cachedInput: '0.3', imageOutput: '0' } },
      { over: 900_000, ratios: { input: '2.333333333333', output: '4', cachedInput: '0.2333333333333' } },
    ],
    group: '1',
  } as const;
  const tiers = (...list: readonly object[]): { text: string } => ({ text: JSON.stringify({ 'gpt-4o': list }) });

  test('has a source for every factor of its context tiers', async () => {
    const first = { over: 200_000, input: 2, output: 1.5, cachedInput: 3 };
    await projected.given(
      changedBy(bob, 'ContextTiers', tiers(first)),
      changedBy(bob, 'ContextTiers', tiers(first, { over: 900_000, input: 2.3333333333333335 })),
      reserved('a1', 9, { price: tiered }),
    );
    const found = await origins(root, 'a1');
    expect(Object.keys(found).filter((factor) => factor.startsWith('over:'))).toEqual([
      ...['over:200000:input', 'over:200000:output', 'over:200000:cachedInput'],
      ...['over:900000:input', 'over:900000:output'],
    ]);
    const source = { option: 'ContextTiers', entry: 'gpt-4o' };
    expect(found).toMatchObject({
      'over:200000:input': { ...source, value: '2', setBy: { position: 0 } },
      'over:200000:output': { ...source, value: '1.5', setBy: { position: 0 } },
      'over:200000:cachedInput': { ...source, value: '3', setBy: { position: 0 } },
      'over:900000:input': { ...source, value: '2.333333333333', setBy: { position: 1 } },
      'over:900000:output': { ...source, value: '1', setBy: { position: 1 } },
    });
  });

  test('has context tiers that are built in where no option was changed', async () => {
    await projected.given(reserved('a1', 9, { price: tiered }));
    expect((await origins(root, 'a1'))['over:200000:input']).toMatchObject({ value: '2', setBy: 'built-in' });
  });

  test('has a source for the factor of its service tier, also of several in combination', async () => {
    const service = { tier: 'fast+us', factor: '2.2', others: { us: '1.1', default: '1', 'fast+us': '2.2' } };
    await projected.given(
      changedBy(bob, 'ServiceTiers', { text: JSON.stringify({ 'gpt-4*': { fast: 3, us: 1.1 } }) }),
      changedBy(bob, 'ServiceTiers', { text: JSON.stringify({ 'gpt-4*': { fast: 2, us: 1.1 } }) }),
      reserved('a1', 9, { price: { ...tiered, service } }),
    );
    expect((await origins(root, 'a1'))['service:fast+us']).toMatchObject({
      value: '2.2',
      option: 'ServiceTiers',
      setBy: { position: 1 },
    });
  });
});
