import { beforeEach, describe, expect, test } from 'vitest';
import { beginning } from '../../../src/domain/events/events.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { priceOf } from '../../../src/domain/pricing/price-tables.js';
import { chargeOf } from '../../../src/domain/pricing/pricing.js';
import { admin, type MemoryNode, openMemoryNode, root } from '../../support/memory/memory-node.js';
import { refusal } from '../../support/refusal.js';

let node: MemoryNode;

beforeEach(async () => {
  node = await openMemoryNode();
});

const editor = { kind: 'editor' } as const;
const priced = (usd: string) => [{ tokens: { input: { usd } } }];
const order = (model: string, periods: unknown, seenAt = null) => ({ model, periods, seenAt });

const charge = (model: string): number | null => {
  const price = priceOf(node.directory.settings().prices, model, '', false);
  return price === null ? null : chargeOf({ input: 1_000_000 }, price);
};

const text = (key: string): unknown => JSON.parse(node.options.view(root, key).value ?? '');

describe('a change of prices', () => {
  test('is in force as soon as the tail brings it, and shown in the maps of older clients', async () => {
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

  test('of several models is made for all or for none, naming the path of what is wrong', async () => {
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

  test('is refused to the second of two editors of one model', async () => {
    await node.prices.changePrices(root, [{ ...order('one', priced('3')), seenAt: beginning }], editor);
    await expect(
      node.prices.changePrices(root, [{ ...order('one', priced('4')), seenAt: beginning }], editor),
    ).rejects.toThrow(refusal('price-changed', { field: 'one' }));
  });

  test('is seen in the position of the maps that it changed, so that an older client overwrites nothing', async () => {
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
