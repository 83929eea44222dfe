import { describe, expect, test } from 'vitest';
import { handle } from '../../src/application/handle.js';
import type { AppendResult, ExpectedRevision } from '../../src/application/ports/storage-ports.js';
import { beginning, type NewEvent, type Position, type StreamName, streams } from '../../src/domain/events/events.js';
import { usernameDecider } from '../../src/domain/kernel/claim.js';
import { Failure } from '../../src/domain/kernel/failure.js';
import { UserId } from '../../src/domain/kernel/ids.js';
import { optionDecider } from '../../src/domain/options/option.js';
import { someInstant } from '../support/given/events.js';
import { settableClock } from '../support/given/fixed-clock.js';
import { dense, MemoryEventStore } from '../support/memory/memory-event-store.js';

const alice = UserId(7);
const bob = UserId(8);
const stream = streams.username('alice');

/** Something else happens between reading and appending, as often as `rivals` has something to say. */
class ContestedStore extends MemoryEventStore {
  readonly rivals: (() => Promise<unknown>)[] = [];

  override async append(
    stream: StreamName,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
  ): Promise<AppendResult> {
    await this.rivals.shift()?.();
    return super.append(stream, events, expected);
  }
}

const change = (key: string, text: string) => ({ type: 'ChangeOption', key, value: { text }, by: UserId(1) }) as const;

describe('handling a command', () => {
  test('records the decided events with the time, and returns their position', async () => {
    const store = new MemoryEventStore(dense);
    const clock = settableClock(someInstant);
    const run = handle(store, clock);
    await run(optionDecider, streams.options, change('RetryTimes', '1'));
    clock.advance(1_000);

    const handled = await run(optionDecider, streams.options, change('RetryTimes', '2'));

    const event = { type: 'OptionChanged', key: 'RetryTimes', value: { text: '2' }, by: UserId(1) };
    expect(handled).toStrictEqual({ events: [event], position: 1 });
    expect((await store.readStream(streams.options)).at(-1)).toMatchObject({
      event,
      revision: 1,
      position: 1,
      at: clock.now(),
    });
  });

  test('that changes nothing records nothing and returns the position of the existing state', async () => {
    const store = new MemoryEventStore(dense);
    const run = handle(store, settableClock(someInstant));
    await run(optionDecider, streams.options, change('RetryTimes', '1'));
    await run(usernameDecider, stream, { type: 'Claim', userId: alice });

    const repeated = await run(optionDecider, streams.options, change('RetryTimes', '1'));
    expect(repeated).toStrictEqual({ events: [], position: 0 });
    const never = await run(usernameDecider, streams.username('bob'), { type: 'Release', userId: bob });
    expect(never).toStrictEqual({ events: [], position: beginning });
    expect(await store.head()).toBe(1);
  });

  test('that is refused records nothing', async () => {
    const store = new MemoryEventStore(dense);
    const run = handle(store, settableClock(someInstant));
    await run(usernameDecider, stream, { type: 'Claim', userId: alice });
    await expect(run(usernameDecider, stream, { type: 'Claim', userId: bob })).rejects.toMatchObject({
      code: 'username-taken',
    });
    expect(await store.head()).toBe(0);
  });
});

describe('a conflict of revisions', () => {
  test('is decided again on the new state', async () => {
    const store = new ContestedStore();
    const run = handle(store, settableClock(someInstant));
    store.rivals.push(() => run(usernameDecider, stream, { type: 'Claim', userId: bob }));

    await expect(run(usernameDecider, stream, { type: 'Claim', userId: alice })).rejects.toMatchObject({
      code: 'username-taken',
    });
    expect((await store.readStream(stream)).map(({ event }) => event)).toStrictEqual([
      { type: 'UsernameClaimed', userId: bob },
    ]);
  });

  test('with the same command of another client ends without a second event', async () => {
    const store = new ContestedStore();
    const run = handle(store, settableClock(someInstant));
    store.rivals.push(() => run(usernameDecider, stream, { type: 'Claim', userId: alice }));

    expect(await run(usernameDecider, stream, { type: 'Claim', userId: alice })).toStrictEqual({
      events: [],
      position: await store.head(),
    });
  });

  test('is reported as such when the stream never rests', async () => {
    const store = new ContestedStore();
    const run = handle(store, settableClock(someInstant));
    let changes = 0;
    const rival = async () => {
      changes += 1;
      store.rivals.unshift(async () => {});
      await run(optionDecider, streams.options, change('Notice', `change ${changes}`));
    };
    for (let n = 0; n < 1_000; n++) store.rivals.push(rival);

    await expect(run(optionDecider, streams.options, change('RetryTimes', '1'))).rejects.toMatchObject({
      code: 'lost-race',
      kind: 'conflict',
    });
    const recorded = (await store.readStream(streams.options)).map(({ event }) => event);
    expect(recorded).toHaveLength(changes);
    expect(recorded).not.toContainEqual(expect.objectContaining({ key: 'RetryTimes' }));
  });

  test('among many commands ends with all of them recorded, one after the other', async () => {
    const store = new MemoryEventStore(dense);
    const run = handle(store, settableClock(someInstant));
    const keys = Array.from({ length: 15 }, (_, n) => `option ${n}`);
    await Promise.all(keys.map((key) => run(optionDecider, streams.options, change(key, 'x'))));
    const recorded = await store.readStream(streams.options);
    expect(recorded.map(({ event }) => ('key' in event ? event.key : '')).sort()).toStrictEqual(keys.sort());
  });
});

test('an append with an unknown outcome is not repeated: only the caller knows whether it may be', async () => {
  const store = new ContestedStore();
  store.rivals.push(async () => {
    throw new Failure('store-unavailable');
  });
  await expect(
    handle(store, settableClock(someInstant))(optionDecider, streams.options, change('RetryTimes', '1')),
  ).rejects.toMatchObject({ code: 'store-unavailable' });
  expect(store.rivals).toHaveLength(0);
  expect(await store.head()).toBe(beginning);
});

describe('a command that depends on data outside its stream', () => {
  test('is made again for every state it is decided on, with the position of that state', async () => {
    const store = new ContestedStore();
    const run = handle(store, settableClock(someInstant));
    await run(optionDecider, streams.options, change('Notice', 'first'));
    store.rivals.push(() => run(optionDecider, streams.options, change('Notice', 'second')));

    const seen: Position[] = [];
    await run(optionDecider, streams.options, async (position) => {
      seen.push(position);
      return change('RetryTimes', String(seen.length));
    });

    expect(seen).toStrictEqual((await store.readAll(beginning, 2)).map(({ position }) => position));
    expect((await store.readStream(streams.options)).at(-1)?.event).toMatchObject({ value: { text: '2' } });
  });

  test('receives -1 where the stream does not exist yet', async () => {
    const store = new MemoryEventStore(dense);
    const seen: Position[] = [];
    await handle(store, settableClock(someInstant))(usernameDecider, stream, async (position) => {
      seen.push(position);
      return { type: 'Claim', userId: alice };
    });
    expect(seen).toStrictEqual([beginning]);
  });
});
