import { beforeEach, describe, expect, test } from 'vitest';
import { beginning } from '../../../src/domain/events/events.js';
import { UserId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { priceOf } from '../../../src/domain/pricing/price-tables.js';
import { chargeOf } from '../../../src/domain/pricing/pricing.js';
import type { Actor } from '../../../src/domain/user/user.js';
import { admin, type MemoryNode, openMemoryNode, root } from '../../support/memory/memory-node.js';
import { refusal } from '../../support/refusal.js';

let node: MemoryNode;

beforeEach(async () => {
  node = await openMemoryNode();
});

const secondRoot: Actor = { id: UserId(1_002), role: 'root' };
const editor = { kind: 'editor' } as const;
const priced = (usd: string) => [{ tokens: { input: { usd } } }];
const order = (model: string, periods: unknown, seenAt = null) => ({ model, periods, seenAt });

const charge = (model: string): number | null => {
  const price = priceOf(node.directory.settings().prices, model, '', false);
  return price === null ? null : chargeOf({ input: 1_000_000 }, price);
};

const text = (key: string): unknown => JSON.parse(node.options.view(root, key).value ?? '');

describe('a change of prices', () => {
  test('is in force as soon as the tail brings it, and visible in the maps of older clients', async () => {
    await node.prices.changePrices(root, [order('my-model', priced('3'))], editor);
    await node.caughtUp();
    expect(charge('my-model')).toBe(1_500_000);
    expect(text('ModelRatio')).toEqual({ 'my-model': 1.5 });
    expect(node.options.list(root)).toContainEqual({ key: 'ModelRatio', value: '{"my-model":1.5}' });
  });

  test('by an older client changes the record, and the map is read as it was written', async () => {
    await node.prices.changePrices(root, [order('my-model', priced('3')), order('other', priced('1'))], editor);
    await node.options.change(root, 'ModelRatio', '{"my-model":2,"third":7}');
    await node.caughtUp();
    expect(charge('my-model')).toBe(2_000_000);
    expect(charge('other')).toBeNull();
    expect(charge('third')).toBe(7_000_000);
    expect(text('ModelRatio')).toEqual({ 'my-model': 2, third: 7 });
  });

  test('of several models is made for all or for none, with the path of an error', async () => {
    const orders = [order('one', priced('3')), order('other', [{ tokens: { input: { usd: '-1' } } }])];
    await expect(node.prices.changePrices(root, orders, editor)).rejects.toThrow(
      refusal('invalid-field', { field: 'changes[1].periods[0].tokens.input.usd' }),
    );
    await expect(node.prices.changePrices(root, [], editor)).rejects.toThrow(
      refusal('invalid-field', { field: 'changes' }),
    );
    const twice = [order('one', null), order('one', null)];
    await expect(node.prices.changePrices(root, twice, editor)).rejects.toThrow(
      refusal('invalid-field', { field: 'changes[1].model' }),
    );
    expect(await node.store.everything()).toStrictEqual([]);
  });

  test('of a name that shares an entry is refused, with the name of that entry', async () => {
    await expect(node.prices.changePrices(root, [order('gpt-4o-gizmo-of-alice', priced('3'))], editor)).rejects.toThrow(
      refusal('invalid-field', { field: 'changes[0].model' }),
    );
    await node.prices.changePrices(root, [order('gpt-4o-gizmo-*', priced('3'))], editor);
    await node.caughtUp();
    expect(charge('gpt-4o-gizmo-of-alice')).toBe(1_500_000);
  });

  test('is refused to the second of two editors of one model', async () => {
    await node.prices.changePrices(root, [{ ...order('one', priced('3')), seenAt: beginning }], editor);
    await expect(
      node.prices.changePrices(root, [{ ...order('one', priced('4')), seenAt: beginning }], editor),
    ).rejects.toThrow(refusal('price-changed', { field: 'one' }));
  });

  test('is visible in the position of the maps that it changed, so that an older client overwrites nothing', async () => {
    const before = node.options.view(root, 'ModelRatio').position;
    await node.prices.changePrices(root, [order('one', priced('3'))], editor);
    await expect(node.options.change(root, 'ModelRatio', '{}', before)).rejects.toThrow(refusal('option-changed'));
    await node.caughtUp();
    const seen = node.options.view(root, 'ModelRatio').position;
    await expect(node.options.change(root, 'ModelRatio', '{"one":2}', seen)).resolves.toBeDefined();
    await node.caughtUp();
    expect(node.options.view(root, 'CacheRatio').position).toBeLessThan(Number(seen) + 1);
    expect(node.options.view(root, 'ModelRatio').position).toBeGreaterThan(Number(seen));
  });

  test('is for root', () =>
    expect(node.prices.changePrices(admin, [order('one', priced('3'))], editor)).rejects.toThrow(
      refusal('role-too-low'),
    ));

  test('with dates takes effect at midnight in UTC of its day, and is announced before', async () => {
    const midnight = Instant(Date.UTC(2031, 0, 1));
    node.directory.advancePrices(Instant(midnight - 1));
    await node.prices.changePrices(
      root,
      [order('my-model', [...priced('1'), { from: '2031-01-01', tokens: { input: { usd: '2' } } }])],
      editor,
    );
    await node.caughtUp();
    expect(charge('my-model')).toBe(500_000);
    const [coming] = node.directory.comingPrices();
    expect(coming?.from).toBe(midnight);
    expect(coming === undefined ? null : priceOf(coming.tables, 'my-model', '', false)).toMatchObject({ model: '1' });
    node.directory.advancePrices(midnight);
    expect(charge('my-model')).toBe(1_000_000);
    expect(node.directory.comingPrices()).toEqual([]);
  });
});

describe('concurrent editors of a price record and of a map of older clients', () => {
  const viewOf = (key: string) => node.options.view(root, key);

  test('a map that was read before the record changed does not overwrite it', async () => {
    await node.options.change(root, 'ModelRatio', '{"my-model":1,"other":2}');
    await node.prices.changePrices(root, [order('my-model', priced('2'))], editor);
    await node.caughtUp();
    const read = viewOf('ModelRatio');
    await node.prices.changePrices(secondRoot, [order('my-model', priced('8'))], editor);
    await node.caughtUp();
    const write = { ...JSON.parse(read.value ?? ''), other: 3 };
    await expect(node.options.change(root, 'ModelRatio', JSON.stringify(write), read.position)).rejects.toThrow(
      refusal('option-changed', { field: 'ModelRatio' }),
    );
    expect(charge('my-model')).toBe(4_000_000);
    const again = viewOf('ModelRatio');
    const merged = { ...JSON.parse(again.value ?? ''), other: 3 };
    await node.options.change(root, 'ModelRatio', JSON.stringify(merged), again.position);
    await node.caughtUp();
    expect([charge('my-model'), charge('other')]).toEqual([4_000_000, 3_000_000]);
  });

  test('a form with several maps of one model stores all of them', async () => {
    await node.prices.changePrices(root, [order('my-model', priced('2'))], editor);
    await node.caughtUp();
    const [ratio, completion] = [viewOf('ModelRatio'), viewOf('CompletionRatio')];
    await node.options.change(root, 'ModelRatio', '{"my-model":3}', ratio.position);
    await node.options.change(root, 'CompletionRatio', '{"my-model":5}', completion.position);
    await node.caughtUp();
    expect(text('ModelRatio')).toEqual({ 'my-model': 3 });
    expect(text('CompletionRatio')).toEqual({ 'my-model': 5 });
  });
});
