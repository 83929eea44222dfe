import { describe, expect, test } from 'vitest';
import { EncodedEvent, encodePayload } from '../../../../src/adapters/event-log/encoded-event.js';
import { type Append, GroupCommit } from '../../../../src/adapters/event-log/group-commit.js';
import type { Journal, Written } from '../../../../src/adapters/event-log/journal/journal.js';
import type { JournaledAppend } from '../../../../src/adapters/event-log/journal/journaled-append.js';
import { JournaledCommit } from '../../../../src/adapters/event-log/journal/journaled-commit.js';
import type { AppendResult, EventStore, ExpectedRevision } from '../../../../src/application/ports/storage-ports.js';
import { type NewEvent, Position, type StreamName } from '../../../../src/domain/events/events.js';
import { Failure } from '../../../../src/domain/kernel/failure.js';
import { eventId, newEvent, streamNamed } from '../../../support/given/events.js';
import { quietLog } from '../../../support/quiet-log.js';
import { until } from '../../../support/until.js';

/** An event, known by its number, to a stream. */
const append = (stream: string, number: number, expected: ExpectedRevision): JournaledAppend => {
  const { id, at, event } = newEvent(number);
  const encoded = new EncodedEvent(id, at, event, 1, encodePayload({ number }));
  return { stream: streamNamed(stream), expected, event: encoded };
};

/** A log that judges as the real one does, and can be away. */
class Log implements Pick<EventStore, 'append' | 'close'> {
  readonly streams = new Map<StreamName, string[]>();
  readonly order: string[] = [];
  readonly batches: string[][] = [];
  away = false;
  private held: (() => void)[] | null = null;
  /** Of this turn of the event loop. */
  private batch: string[] | null = null;

  hold(): void {
    this.held = [];
  }
  letGo(): void {
    for (const go of this.held?.splice(0) ?? []) go();
    this.held = null;
  }

  async append(stream: StreamName, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult> {
    if (this.batch === null) {
      this.batch = [];
      this.batches.push(this.batch);
      setImmediate(() => {
        this.batch = null;
      });
    }
    this.batch.push(...events.map(({ id }) => id));
    if (this.held !== null) await new Promise<void>((resolve) => this.held?.push(resolve));
    if (this.away) throw new Failure('store-unavailable', { reason: 'away' });
    const known = this.streams.get(stream) ?? [];
    const actual = known.length === 0 ? null : known.length - 1;
    if (expected !== 'any' && (expected === 'no-stream' ? null : expected) !== actual)
      return { ok: false, conflict: { actual } };
    for (const { id } of events) {
      known.push(id);
      this.order.push(id);
    }
    this.streams.set(stream, known);
    return { ok: true, revision: known.length - 1, position: Position(this.order.length - 1) };
  }
  async close(): Promise<void> {}
}

interface WorldOptions {
  readonly patienceMs?: number;
  readonly gatherMs?: number;
  readonly reopen?: () => Promise<Journal | null>;
}

function world({ patienceMs = 60_000, gatherMs = 3_600_000, reopen }: WorldOptions = {}) {
  const log = new Log();
  const texts: string[] = [];
  let forgotten = -1;
  let answer: Written['kind'] | 'never' = 'written';
  let closed: boolean | null = null;
  const journal: Journal = {
    write: async (text) => {
      if (answer === 'never') return new Promise(() => {});
      if (answer !== 'written') return { kind: answer };
      texts.push(text);
      return { kind: 'written', number: texts.length - 1 };
    },
    forget: (number) => {
      forgotten = number;
    },
    end: async () => {},
    close: async ({ keep }) => {
      closed = keep;
    },
  };
  const lost: string[] = [];
  const onLost = (reason: string) => void lost.push(reason);
  const commits = new JournaledCommit(log, {
    ...{ log: quietLog, patienceMs, gatherMs, onLost, reopenMs: 1 },
    ...(reopen && { reopen }),
  });
  commits.use(journal);
  const committed: [number, number][] = [];
  return {
    ...{ log, texts, commits, lost, committed },
    forgotten: () => forgotten,
    closedKeeping: () => closed,
    journalAnswers(kind: typeof answer) {
      answer = kind;
    },
    durable: (stream: string, number: number, expected: ExpectedRevision) =>
      commits.addDurable(append(stream, number, expected), (position) => committed.push([number, Number(position)])),
    direct: (stream: string, number: number, expected: ExpectedRevision) =>
      commits.add(streamNamed(stream), [newEvent(number)], expected),
  };
}

const ids = (...numbers: number[]) => numbers.map((number) => eventId(number));

describe('a durable append', () => {
  test('is acknowledged when the journal has it, even if the log does not answer', async () => {
    const { log, durable, texts } = world();
    log.hold();
    expect(await durable('call-a', 1, 'no-stream')).toEqual({ ok: true });
    expect(await durable('call-a', 2, 0)).toEqual({ ok: true });
    expect(texts.map((text) => text.split('\t').slice(0, 3))).toEqual([
      ['call-a', 'no-stream', eventId(1)],
      ['call-a', '0', eventId(2)],
    ]);
  });
  test('is written to the journal with all others of the same turn', async () => {
    const { durable, texts } = world();
    await Promise.all([
      durable('call-a', 1, 'no-stream'),
      durable('call-b', 2, 'no-stream'),
      durable('call-c', 3, 'no-stream'),
    ]);
    expect(texts.map((text) => text.split('\n').length)).toEqual([3]);
  });
  test('has its position in the order of acknowledgements, with the start and the end of a call side by side', async () => {
    const { commits, log, durable, committed } = world();
    await durable('call-a', 1, 'no-stream');
    await durable('call-b', 2, 'no-stream');
    await durable('call-a', 3, 0);
    await durable('call-c', 4, 'no-stream');
    await commits.flushed();
    expect(log.order).toEqual(ids(1, 3, 2, 4));
    expect(committed).toEqual([
      [1, 1],
      [2, 2],
      [3, 1],
      [4, 3],
    ]);
  });
  test('is not needed in the journal any more once the log has it', async () => {
    const { commits, durable, forgotten } = world();
    await durable('call-a', 1, 'no-stream');
    await durable('call-b', 2, 'no-stream');
    expect(forgotten()).toBe(-1);
    await commits.flushed();
    expect(forgotten()).toBe(1);
  });
  test('is committed to the log without a further call', async () => {
    const { log, durable } = world({ gatherMs: 1 });
    await durable('call-a', 1, 'no-stream');
    await until(async () => (log.order.length === 1 ? true : null));
  });
  test('waits with later ones for the next batch', async () => {
    const { commits, log, durable } = world({ gatherMs: 1 });
    log.hold();
    await durable('call-a', 1, 'no-stream');
    await until(async () => (log.batches.length === 1 ? true : null));
    await durable('call-b', 2, 'no-stream');
    await durable('call-c', 3, 'no-stream');
    log.letGo();
    await commits.flushed();
    expect(log.batches).toEqual([ids(1), ids(2, 3)]);
  });
});

describe('an append that the log checks', () => {
  test.each<[string, string, ExpectedRevision]>([
    ['one to a stream that is not a call’s', 'user-1', 'no-stream'],
    ['one to a call at any revision', 'call-z', 'any'],
    ['the outcome of a call that this process has not begun', 'call-z', 0],
    ['any event after an outcome', 'call-z', 1],
  ])('is %s', async (_, stream, expected) => {
    const { texts, log, durable } = world();
    await durable(stream, 1, expected);
    expect(texts).toEqual([]);
    expect(log.batches).toEqual([ids(1)]);
  });
  test('is a second start of a call, and a second outcome, which are reported as conflicts', async () => {
    const { durable } = world();
    await durable('call-a', 1, 'no-stream');
    expect(await durable('call-a', 2, 'no-stream')).toEqual({ ok: false, conflict: { actual: 0 } });
    await durable('call-b', 3, 'no-stream');
    await durable('call-b', 4, 0);
    expect(await durable('call-b', 5, 0)).toEqual({ ok: false, conflict: { actual: 1 } });
  });
  test('is a second start of an in-flight call, however many others have come since', async () => {
    const { durable, lost } = world({ gatherMs: 1 });
    await durable('call-a', 1, 'no-stream');
    for (let from = 0; from < 41_000; from += 1_000)
      await Promise.all(
        Array.from({ length: 1_000 }, (_, at) => durable(`call-other-${from + at}`, from + at + 10, 'no-stream')),
      );
    expect(await durable('call-a', 2, 'no-stream')).toEqual({ ok: false, conflict: { actual: 0 } });
    expect(lost).toEqual([]);
  });
  test('is the later one of two concurrent outcomes', async () => {
    const { log, durable } = world();
    await durable('call-a', 1, 'no-stream');
    const both = [durable('call-a', 2, 0), durable('call-a', 3, 0)];
    expect(await Promise.all(both)).toEqual([{ ok: true }, { ok: false, conflict: { actual: 1 } }]);
    expect(log.order).toEqual(ids(1, 2));
  });
  test('is an outcome after another node has ended the call in the log', async () => {
    const { durable, direct } = world();
    await durable('call-a', 1, 'no-stream');
    expect(await direct('call-a', 2, 0)).toMatchObject({ ok: true, revision: 1 });
    expect(await durable('call-a', 3, 0)).toEqual({ ok: false, conflict: { actual: 1 } });
  });
  test('comes after the acknowledged appends of its stream, and after all others acknowledged before', async () => {
    const { log, durable, direct } = world();
    await durable('call-a', 1, 'no-stream');
    await durable('call-b', 2, 'no-stream');
    await direct('call-b', 3, 0);
    await durable('call-c', 4, 'no-stream');
    await direct('user-1', 5, 'no-stream');
    expect(log.order).toEqual(ids(1, 2, 3, 4, 5));
  });
  test('comes after what was acknowledged while a batch is on its way to the log', async () => {
    const { commits, log, durable, journalAnswers } = world({ gatherMs: 1 });
    await durable('call-a', 1, 'no-stream');
    log.hold();
    void commits.flushed();
    await until(async () => (log.batches.length > 0 ? true : null));
    await durable('call-a', 2, 0);
    journalAnswers('full');
    const reserved = durable('call-b', 3, 'no-stream');
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    log.letGo();
    await reserved;
    expect(log.order).toEqual(ids(1, 2, 3));
  });
  test('is any append while there is no journal, but not the outcome of a call begun then', async () => {
    const { commits, log, texts } = world();
    const without = new JournaledCommit(log, { log: quietLog, patienceMs: 1000, onLost: () => {} });
    const notified: number[] = [];
    await without.addDurable(append('call-a', 1, 'no-stream'), (position) => notified.push(Number(position)));
    expect([log.order, notified, texts]).toEqual([ids(1), [0], []]);
    await commits.add(streamNamed('call-b'), [newEvent(2)], 'no-stream');
    await commits.addDurable(append('call-b', 3, 0), () => {});
    expect(texts.length).toBe(1);
  });
});

describe('while the database is unavailable', () => {
  test('calls continue, and all of them are committed when it is back', async () => {
    const { commits, log, durable, committed } = world({ gatherMs: 1 });
    log.away = true;
    for (let call = 0; call < 5; call++) {
      await durable(`call-${call}`, 2 * call, 'no-stream');
      await durable(`call-${call}`, 2 * call + 1, 0);
    }
    await until(async () => (log.batches.length > 0 ? true : null));
    expect(committed).toEqual([]);
    log.away = false;
    await commits.flushed();
    expect(log.order).toEqual(ids(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
    expect(committed.map(([number]) => number)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
  test('for longer than any timeout, acknowledged appends are kept', async () => {
    const patienceMs = 20;
    const { log } = world();
    const write = async (batch: readonly Append[]) =>
      Promise.all(
        batch.map(({ stream, events, expected }) =>
          log.append(stream, events, expected).catch((error: Error) => error),
        ),
      );
    const group = new GroupCommit(write, { appends: 100, size: 100_000, patienceMs, outcomeGraceMs: patienceMs });
    const grouped: Pick<EventStore, 'append' | 'close'> = {
      append: (stream, events, expected) =>
        group.add({ stream, events: events as EncodedEvent[], expected, size: 10, since: performance.now() }),
      close: () => group.drained(),
    };
    const commits = new JournaledCommit(grouped, { log: quietLog, patienceMs: 60_000, gatherMs: 1, onLost: () => {} });
    const texts: string[] = [];
    const written = async (text: string): Promise<Written> => ({ kind: 'written', number: texts.push(text) - 1 });
    commits.use({ write: written, forget: () => {}, end: async () => {}, close: async () => {} });
    log.away = true;
    await commits.addDurable(append('call-a', 1, 'no-stream'), () => {});
    const asked = performance.now();
    await until(async () => (log.batches.length > 1 && performance.now() > asked + 2 * patienceMs ? true : null));
    log.away = false;
    await commits.flushed();
    expect(log.order).toEqual(ids(1));
  });
  test('a reader that needs all of them fails after its timeout', async () => {
    const { commits, log, durable, direct } = world({ patienceMs: 20 });
    log.away = true;
    await durable('call-a', 1, 'no-stream');
    await expect(commits.flushed()).rejects.toMatchObject({ code: 'store-unavailable' });
    await expect(direct('call-a', 2, 0)).rejects.toMatchObject({ code: 'store-busy' });
  });
  test('uncommitted appends at shutdown stay in the journal', async () => {
    const { commits, log, durable, closedKeeping } = world();
    log.away = true;
    await durable('call-a', 1, 'no-stream');
    await commits.close();
    expect(closedKeeping()).toBe(true);
  });
  test('a full journal leaves appends to the log', async () => {
    const { log, durable, journalAnswers } = world();
    journalAnswers('full');
    await durable('call-a', 1, 'no-stream');
    expect(log.order).toEqual(ids(1));
    journalAnswers('written');
    await durable('call-a', 2, 0);
    expect(log.order).toEqual(ids(1));
  });
});

describe('a journal that fails', () => {
  test('leaves the outcome of pending appends unknown, and all others to the log', async () => {
    const { log, durable, journalAnswers, lost } = world();
    await durable('call-a', 1, 'no-stream');
    journalAnswers('failed');
    await expect(durable('call-a', 2, 0)).rejects.toMatchObject({ code: 'store-unavailable' });
    expect(await durable('call-a', 2, 0)).toEqual({ ok: true });
    await durable('call-b', 3, 'no-stream');
    expect(log.order).toEqual(ids(1, 2, 3));
    expect(lost).toEqual([]);
  });
  test('by a hanging disk is waited for up to the timeout', async () => {
    const { durable, journalAnswers } = world({ patienceMs: 20 });
    journalAnswers('never');
    await expect(durable('call-a', 1, 'no-stream')).rejects.toMatchObject({ code: 'store-unavailable' });
  });
  test('because another process has it stops the node', async () => {
    const { durable, journalAnswers, lost } = world();
    journalAnswers('taken');
    await expect(durable('call-a', 1, 'no-stream')).rejects.toMatchObject({ code: 'store-unavailable' });
    expect(lost).toEqual(['Another Tallygate process has taken over the journal of this one.']);
  });
  test('to be committed to the log stops the node, and stays', async () => {
    const { commits, log, durable, lost, closedKeeping } = world({ patienceMs: 20 });
    await durable('call-a', 1, 'no-stream');
    // Nothing of this process does such a thing.
    log.streams.set(streamNamed('call-a'), ['somebody’s']);
    await commits.close();
    // Once, however often it is asked for.
    await expect(commits.flushed()).rejects.toMatchObject({ code: 'store-unavailable' });
    expect(lost).toEqual([expect.stringContaining('call-a has gone on without what was answered for it')]);
    expect(closedKeeping()).toBe(true);
  });
});

/** A log and a journal that has failed, with one append that it had acknowledged, and what comes in its place. */
async function withFailedJournal() {
  const texts: string[] = [];
  let opened = 0;
  let closed: boolean | null = null;
  const second: Journal = {
    write: async (text) => ({ kind: 'written', number: texts.push(text) - 1 }),
    forget: () => {},
    end: async () => {},
    close: async ({ keep }) => {
      closed = keep;
    },
  };
  const first = world({ patienceMs: 20, reopen: async () => (opened++ === 0 ? null : second) });
  first.log.away = true;
  await first.durable('call-a', 1, 'no-stream');
  first.journalAnswers('failed');
  await expect(first.durable('call-b', 2, 'no-stream')).rejects.toMatchObject({ code: 'store-unavailable' });
  return { ...first, texts, opened: () => opened, secondClosedKeeping: () => closed };
}

describe('a journal in the place of one that has failed', () => {
  test('is opened once the log has all that the failed one holds, which is removed first', async () => {
    const { log, opened, closedKeeping, commits } = await withFailedJournal();
    await expect(commits.flushed()).rejects.toMatchObject({ code: 'store-unavailable' });
    expect([opened(), closedKeeping()]).toEqual([0, null]);
    log.away = false;
    await until(async () => opened() === 2);
    expect(log.order).toEqual(ids(1));
    expect(closedKeeping()).toBe(false);
  });

  test('is used when the log has taken something since: another process may have become its writer meanwhile', async () => {
    const { log, opened, texts, durable, commits, forgotten } = await withFailedJournal();
    log.away = false;
    await commits.flushed();
    await until(async () => opened() === 2);
    log.away = true;
    await expect(durable('call-c', 3, 'no-stream')).rejects.toMatchObject({ code: 'store-unavailable' });
    await expect(durable('call-d', 4, 'no-stream')).rejects.toMatchObject({ code: 'store-unavailable' });
    expect(texts).toEqual([]);
    log.away = false;
    await durable('call-e', 5, 'no-stream');
    expect(log.order).toEqual(ids(1, 5));
    await durable('call-e', 6, 0);
    expect(texts).toHaveLength(1);
    expect(log.order).toEqual(ids(1, 5));
    // Numbers of one journal mean nothing in another.
    expect(forgotten()).toBe(-1);
    await commits.flushed();
    expect(log.order).toEqual(ids(1, 5, 6));
  });

  test('is closed with the store, whether it was used or not', async () => {
    const { log, opened, commits, secondClosedKeeping } = await withFailedJournal();
    log.away = false;
    await commits.flushed();
    await until(async () => opened() === 2);
    await commits.close();
    expect(secondClosedKeeping()).toBe(false);
    const away = await withFailedJournal();
    await away.commits.close();
    expect([away.opened(), away.closedKeeping()]).toEqual([0, true]);
  });
});

describe('closing the journal', () => {
  test('commits all acknowledged appends, and leaves no journal', async () => {
    const { commits, log, durable, closedKeeping } = world();
    const answers = [durable('call-a', 1, 'no-stream'), durable('call-b', 2, 'no-stream')];
    await commits.close();
    expect(await Promise.all(answers)).toEqual([{ ok: true }, { ok: true }]);
    expect(log.order).toEqual(ids(1, 2));
    expect(closedKeeping()).toBe(false);
  });
  test('ends a journal that was ready too late', async () => {
    const log = new Log();
    const commits = new JournaledCommit(log, { log: quietLog, patienceMs: 1000, onLost: () => {} });
    await commits.close();
    let closed: boolean | null = null;
    const write = async (): Promise<Written> => ({ kind: 'failed' });
    const close: Journal['close'] = async ({ keep }) => {
      closed = keep;
    };
    commits.use({ write, forget: () => {}, end: async () => {}, close });
    expect(closed).toBe(false);
  });
});
