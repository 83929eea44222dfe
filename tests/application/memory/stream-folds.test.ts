import { beforeEach, describe, expect, test } from 'vitest';
import { foldStreams, type StreamFolds } from '../../../src/application/memory/stream-folds.js';
import type { EventStore } from '../../../src/application/ports/storage-ports.js';
import type { Recorded, StreamName } from '../../../src/domain/events/events.js';
import type { Decider } from '../../../src/domain/kernel/decider.js';
import type { OptionChanged } from '../../../src/domain/options/option.js';
import { flush } from '../../support/flush.js';
import { streamNamed } from '../../support/given/events.js';
import { recordedAt } from '../../support/given/recorded.js';

/** Remembers every value in the order it was folded: a lost or doubled event shows. */
const history: Decider<readonly string[], never, OptionChanged> = {
  initial: [],
  decide: () => [],
  evolve: (values, { value }) => ('text' in value ? [...values, value.text] : values),
};

/** A log whose reads are answered when the test says so, with what is there at that moment. */
class SlowLog implements Pick<EventStore, 'streamPages'> {
  private readonly stored: Recorded[] = [];
  private readonly reads: { stream: StreamName; answer: (events: readonly Recorded[]) => void; fail: () => void }[] =
    [];
  readCount = 0;

  append(stream: StreamName, value: string): Recorded {
    const revision = this.stored.filter((event) => event.stream === stream).length;
    const event: OptionChanged = { type: 'OptionChanged', key: 'k', value: { text: value } };
    const recorded = recordedAt(this.stored.length, stream, event, { revision });
    this.stored.push(recorded);
    return recorded;
  }

  async *streamPages(stream: StreamName): AsyncIterable<readonly Recorded[]> {
    this.readCount += 1;
    yield await new Promise<readonly Recorded[]>((answer, reject) => {
      this.reads.push({ stream, answer, fail: () => reject(new Error('read failed')) });
    });
  }

  /** What a read would see now; handing it over may take longer. */
  snapshot(stream: StreamName): readonly Recorded[] {
    return this.stored.filter((event) => event.stream === stream);
  }

  answer(events?: readonly Recorded[]): void {
    const read = this.reads.shift();
    if (read === undefined) throw new Error('nobody is reading');
    read.answer(events ?? this.snapshot(read.stream));
  }

  fail(): void {
    this.reads.shift()?.fail();
  }
}

const a = streamNamed('a-1');
const b = streamNamed('b-1');
const c = streamNamed('c-1');

let log: SlowLog;
let folds: StreamFolds<readonly string[]>;

beforeEach(() => {
  log = new SlowLog();
  folds = foldStreams(log, history, 2);
});

/** Asks, lets the read be answered with what is stored, and gives the state. */
const load = (stream: StreamName) => {
  const state = folds.get(stream);
  log.answer();
  return state;
};

describe('a folded stream', () => {
  test('is read once and then kept up to date by the tail', async () => {
    log.append(a, '1');
    expect(await load(a)).toStrictEqual(['1']);
    folds.take(log.append(a, '2'));
    expect(await folds.get(a)).toStrictEqual(['1', '2']);
    expect(log.readCount).toBe(1);
  });

  test('is read once for concurrent readers', async () => {
    log.append(a, '1');
    const asked = [folds.get(a), folds.get(a), folds.get(a)];
    log.answer();
    expect(await Promise.all(asked)).toStrictEqual([['1'], ['1'], ['1']]);
    expect(log.readCount).toBe(1);
  });

  test('that does not exist has the initial state, and appears when it begins', async () => {
    expect(await load(a)).toStrictEqual([]);
    folds.take(log.append(a, '1'));
    expect(await folds.get(a)).toStrictEqual(['1']);
  });

  test('without readers is not kept', async () => {
    folds.take(log.append(a, '1'));
    expect(log.readCount).toBe(0);
    expect(await load(a)).toStrictEqual(['1']);
  });
});

describe('an event that arrives while its stream is being read', () => {
  test('is applied after the read when the read lacks it', async () => {
    log.append(a, '1');
    const state = folds.get(a);
    const seen = log.snapshot(a);
    folds.take(log.append(a, '2'));
    log.answer(seen);
    expect(await state).toStrictEqual(['1', '2']);
  });

  test('is applied once when the read includes it', async () => {
    log.append(a, '1');
    const state = folds.get(a);
    folds.take(log.append(a, '2'));
    log.answer();
    expect(await state).toStrictEqual(['1', '2']);
  });

  test('is applied once when the read includes it and the tail is late', async () => {
    log.append(a, '1');
    const state = folds.get(a);
    const late = log.append(a, '2');
    log.answer();
    expect(await state).toStrictEqual(['1', '2']);
    folds.take(late);
    folds.take(log.append(a, '3'));
    expect(await folds.get(a)).toStrictEqual(['1', '2', '3']);
  });

  test('may arrive with older ones that the read included', async () => {
    const first = log.append(a, '1');
    const state = folds.get(a);
    const seen = log.snapshot(a);
    folds.take(first);
    folds.take(log.append(a, '2'));
    folds.take(log.append(a, '3'));
    log.answer(seen);
    expect(await state).toStrictEqual(['1', '2', '3']);
  });
});

describe('a failed read of a stream', () => {
  test('fails for all who wait, and the next reader reads again', async () => {
    log.append(a, '1');
    const asked = [folds.get(a), folds.get(a)];
    log.fail();
    for (const state of asked) await expect(state).rejects.toThrow('read failed');
    expect(await load(a)).toStrictEqual(['1']);
  });
});

describe('the number of streams in memory', () => {
  test('is limited: the oldest is evicted, and read again on demand', async () => {
    log.append(a, '1');
    for (const stream of [a, b, c]) await load(stream);
    expect(log.readCount).toBe(3);
    folds.take(log.append(a, '2'));

    expect(await folds.get(c)).toStrictEqual([]);
    expect(log.readCount).toBe(3);
    expect(await load(a)).toStrictEqual(['1', '2']);
    expect(log.readCount).toBe(4);
  });

  test('is exceeded rather than evict one that is being read, which would miss events of the tail', async () => {
    const [stateA, stateB, stateC] = [folds.get(a), folds.get(b), folds.get(c)];
    folds.take(log.append(a, '1'));
    log.answer([]);
    log.answer([]);
    log.answer([]);
    expect(await stateA).toStrictEqual(['1']);
    await Promise.all([stateB, stateC]);
    folds.take(log.append(a, '2'));
    expect(await folds.get(a)).toStrictEqual(['1', '2']);
    expect(log.readCount).toBe(3);
  });
});

test('the state equals the stream, whatever the order of appends, reads and the tail', async () => {
  // Every way to place one read among three appends and their deliveries.
  for (let readAt = 0; readAt <= 3; readAt++) {
    for (let answerAt = readAt; answerAt <= 3; answerAt++) {
      for (let behind = 0; behind <= 3; behind++) {
        const slow = new SlowLog();
        const kept = foldStreams(slow, history, 2);
        const undelivered: Recorded[] = [];
        let state: Promise<readonly string[]> | null = null;
        let seen: readonly Recorded[] = [];
        for (let step = 0; step <= 3; step++) {
          if (step === readAt) {
            state = kept.get(a);
            seen = slow.snapshot(a);
          }
          if (step === answerAt) slow.answer(seen);
          await flush();
          if (step < 3) undelivered.push(slow.append(a, String(step)));
          while (undelivered.length > behind) kept.take(undelivered.shift() as Recorded);
        }
        await state;
        for (const late of undelivered) kept.take(late);
        expect(await kept.get(a), `read ${readAt}, answered ${answerAt}, tail behind by ${behind}`).toStrictEqual([
          '0',
          '1',
          '2',
        ]);
      }
    }
  }
});
