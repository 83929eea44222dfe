import { expect, test } from 'vitest';
import { marginRows } from '../../../src/application/audit/margin.js';
import { beginning } from '../../../src/domain/events/events.js';
import { decimal, decimalText } from '../../../src/domain/kernel/decimal.js';
import { added, east, refunded, settled, toRecord, usage, west } from '../../projections/history.js';
import { MemoryEventStore } from '../../support/memory/memory-event-store.js';

test('a refund takes back what was charged, and leaves the margin alone where the call had no known cost', async () => {
  const store = new MemoryEventStore();
  const facts = [
    added(east, { setting: '{"purchase_prices":{"*":{"call":0.5}}}' }),
    settled('kept', 9, 500_000),
    settled('priced', 9, 250_000),
    settled('unknown', 9, 125_000, { channelId: west }),
    refunded('priced', 250_000),
    refunded('unknown', 125_000, { settlement: { ...takenBack(125_000), channelId: west } }),
  ];
  for (const one of facts) await store.append(one.stream, [toRecord(one)], 'any');
  const asked = { after: beginning, from: null, to: null, quotaPerUnit: decimal('500000'), channelId: null };
  const [row] = await marginRows(store, { by: 'user', ...asked });
  expect(row).toMatchObject({ calls: 3, callsWithoutCost: 1 });
  const { charged, cost, chargedWithoutCost, margin } = row ?? {};
  const texts = [charged, cost, chargedWithoutCost, margin].map((amount) => amount && decimalText(amount));
  expect(texts).toEqual(['1', '1', '0', '0']);
});

function takenBack(charged: number) {
  const { event } = refunded('any', charged, { facts: {} });
  if (event.type !== 'CallRefunded') throw new Error('it is no refund');
  return { ...event.settlement, usage };
}
