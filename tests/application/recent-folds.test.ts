import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { handle } from '../../src/application/handle.js';
import { idempotencyMark } from '../../src/application/idempotency.js';
import { RecentFolds } from '../../src/application/recent-folds.js';
import { apiKeyDecider } from '../../src/domain/api-key/api-key.js';
import { type Recorded, type Revision, type StreamName, streams } from '../../src/domain/events/events.js';
import { ApiKeyId, SecretId, UserId } from '../../src/domain/kernel/ids.js';
import { Quota } from '../../src/domain/kernel/quota.js';
import { optionDecider } from '../../src/domain/options/option.js';
import { apiKeyTerms } from '../support/given/api-key-terms.js';
import { someInstant } from '../support/given/events.js';
import { settableClock } from '../support/given/fixed-clock.js';
import { MemoryEventStore } from '../support/memory/memory-event-store.js';

/** Counts what is read of it. */
class CountingStore extends MemoryEventStore {
  read = 0;

  override async *streamPages(stream: StreamName, after?: Revision): AsyncIterable<readonly Recorded[]> {
    for await (const page of super.streamPages(stream, after)) {
      this.read += page.length;
      yield page;
    }
  }
}

const clock = settableClock(someInstant);
const owner = UserId(7);
const keyStream = streams.apiKey(ApiKeyId(1));
const issue = {
  ...({ type: 'IssueApiKey', owner, keyHash: 'hash', secret: SecretId('secret') } as const),
  ...{ quota: Quota(5), terms: apiKeyTerms() },
} as const;
const edit = (name: string) =>
  ({ type: 'EditApiKey', owner, quotaDelta: Quota(0), terms: apiKeyTerms({ name }) }) as const;
const change = (key: string, text: string) => ({ type: 'ChangeOption', key, value: { text }, by: UserId(1) }) as const;

describe('the work of a command', () => {
  test('does not grow with the history of its stream', async () => {
    const store = new CountingStore();
    const run = handle(store, clock);
    await run(apiKeyDecider, keyStream, issue);
    const edits = 300;
    for (let n = 0; n < edits; n++) {
      const mark = idempotencyMark(owner, `order ${n}`, keyStream, `edit ${n}`);
      await run(apiKeyDecider, keyStream, edit(`name ${n}`), mark);
    }
    expect((await store.readStream(keyStream)).length).toBe(edits + 1);
    // Each event is read when it is folded, and once more by the marked order it is of.
    expect(store.read).toBeLessThanOrEqual(2 * (edits + 1));
  });

  test('does not grow either where another node writes to the same stream', async () => {
    const store = new CountingStore();
    const [here, there] = [handle(store, clock), handle(store, clock)];
    await here(apiKeyDecider, keyStream, issue);
    for (let n = 0; n < 100; n++) {
      await here(apiKeyDecider, keyStream, edit(`here ${n}`));
      await there(apiKeyDecider, keyStream, edit(`there ${n}`));
    }
    expect(store.read).toBeLessThanOrEqual(2 * 201);
  });
});

test('a command repeated much later is recognised, and as a different one where its content differs', async () => {
  const run = handle(new MemoryEventStore(), clock);
  await run(apiKeyDecider, keyStream, issue);
  const mark = idempotencyMark(owner, 'mine', keyStream, 'edit to first');
  const done = await run(apiKeyDecider, keyStream, edit('first'), mark);
  for (let n = 0; n < 50; n++) await run(apiKeyDecider, keyStream, edit(`name ${n}`));
  expect(await run(apiKeyDecider, keyStream, edit('first'), mark)).toStrictEqual(done);
  await expect(
    run(apiKeyDecider, keyStream, edit('second'), idempotencyMark(owner, 'mine', keyStream, 'edit to second')),
  ).rejects.toMatchObject({ code: 'idempotency-key-reused' });
});

describe('the cache of folded streams', () => {
  const optionStreams = ['a', 'b', 'c'].map((name) => `options-${name}` as StreamName);

  test('is bounded in number: the most recently used stay, the others are read again', async () => {
    const store = new CountingStore();
    const run = handle(store, clock, new RecentFolds(store, { streams: 2, weight: 1_000_000 }));
    for (const stream of optionStreams)
      for (let n = 0; n < 5; n++) await run(optionDecider, stream, change('Notice', `${n}`));
    const reads = async (stream: StreamName): Promise<number> => {
      store.read = 0;
      await run(optionDecider, stream, change('Notice', '4'));
      return store.read;
    };
    const [a, b, c] = optionStreams as [StreamName, StreamName, StreamName];
    // What an order itself has appended is read by the next one.
    expect(await reads(b)).toBe(1);
    expect(await reads(c)).toBe(1);
    expect(await reads(a)).toBe(5);
    expect(await reads(c)).toBe(0);
    expect(await reads(b)).toBe(5);
  });

  test('is bounded in size: a stream larger than the limit is not cached', async () => {
    const store = new CountingStore();
    const run = handle(store, clock, new RecentFolds(store, { streams: 100, weight: 10_000 }));
    const [a, b] = optionStreams as [StreamName, StreamName];
    await run(optionDecider, a, change('Notice', 'small'));
    await run(optionDecider, b, change('Notice', 'x'.repeat(20_000)));
    store.read = 0;
    await run(optionDecider, b, change('Notice', 'x'.repeat(20_000)));
    expect(store.read).toBe(1);
    store.read = 0;
    await run(optionDecider, a, change('Notice', 'small'));
    expect(store.read).toBe(1);
    store.read = 0;
    await run(optionDecider, a, change('Notice', 'small'));
    expect(store.read).toBe(0);
  });

  test('leads to the same events as reading everything each time, with any concurrent writers', async () => {
    const order = fc.record({
      node: fc.nat(1),
      stream: fc.nat(2),
      key: fc.constantFrom('Notice', 'Footer', 'Motto'),
      text: fc.constantFrom('', 'x', 'y'.repeat(300)),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(order, { maxLength: 40 }),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 2_000 }),
        async (orders, max, weight) => {
          const [store, plain] = [new MemoryEventStore(), new MemoryEventStore()];
          const nodes = [0, 1].map(() => handle(store, clock, new RecentFolds(store, { streams: max, weight })));
          for (const { node, stream, key, text } of orders) {
            const name = optionStreams[stream] as StreamName;
            const kept = await nodes[node]?.(optionDecider, name, change(key, text));
            const whole = await handle(plain, clock)(optionDecider, name, change(key, text));
            expect(kept).toStrictEqual(whole);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
