import { expect, test } from 'vitest';
import type { Position } from '../../src/domain/events/events.js';
import { type News, type NewsSource, newsOf } from '../../src/projections/engine/news.js';
import { dense, MemoryEventStore } from '../support/memory/memory-event-store.js';
import { alice, option, registered, root, toRecord } from './history.js';

/* How projectors are notified that the log has grown. */

async function append(store: MemoryEventStore, fact: ReturnType<typeof option>): Promise<void> {
  await store.append(fact.stream, [toRecord(fact)], 'any');
}

const quarantined = {
  ...option('-', '-'),
  event: { type: 'EventQuarantined', model: 'users', version: 1, position: 0, reason: 'earlier', by: root },
} as never;

/** The next `count`, each after what `between` has done. */
async function notified(source: NewsSource, count: number, between: (n: number) => Promise<void>) {
  const abort = new AbortController();
  const reasons: unknown[] = [];
  const heard: News[] = [];
  for await (const news of newsOf(source, abort.signal, { broke: (reason) => reasons.push(reason), retryMs: 1 })) {
    heard.push(news);
    if (heard.length === count) abort.abort();
    else await between(heard.length);
  }
  return { heard, reasons };
}

test('the subscription to the log begins at its end, and reports where a read model is to skip a quarantined event', async () => {
  const store = new MemoryEventStore(dense);
  await append(store, option('a', '1'));
  const facts = [registered(alice, 'alice'), quarantined, option('a', '2')];
  const { heard, reasons } = await notified(store, 4, (n) => append(store, facts[n - 1] ?? quarantined));
  expect(heard).toEqual([
    { head: 0, quarantined: false },
    { head: 1, quarantined: false },
    { head: 2, quarantined: true },
    { head: 3, quarantined: false },
  ]);
  expect(reasons).toEqual([]);
});

test('the subscription to the log is resumed when it breaks, also after an unreadable event', async () => {
  const store = new MemoryEventStore(dense);
  const broken: NewsSource = {
    head: () => store.head(),
    // biome-ignore lint/correctness/useYield: it breaks before there is anything
    async *subscribe(_: Position) {
      await append(store, option('a', '1'));
      throw new Error('unreadable');
    },
  };
  const { heard, reasons } = await notified(broken, 3, async () => {});
  expect(heard.map(({ head }) => head)).toEqual([-1, 0, 1]);
  expect(reasons).toHaveLength(2);
});
