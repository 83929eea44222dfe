import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { EncodedEvent, encodeEvent, encodePayload } from '../../../../src/adapters/event-log/encoded-event.js';
import { type Append, GroupCommit } from '../../../../src/adapters/event-log/group-commit.js';
import { openJournal } from '../../../../src/adapters/event-log/journal/journal.js';
import {
  countUnflushed,
  type RecoveryOptions,
  recoverJournals,
} from '../../../../src/adapters/event-log/journal/journal-recovery.js';
import { lineOf } from '../../../../src/adapters/event-log/journal/journaled-append.js';
import type { AppendResult, ExpectedRevision } from '../../../../src/application/ports/storage-ports.js';
import { type DomainEvent, Position, type StreamName } from '../../../../src/domain/events/events.js';
import { currentPayloads } from '../../../../src/domain/events/upcast.js';
import { Failure } from '../../../../src/domain/kernel/failure.js';
import { Instant } from '../../../../src/domain/kernel/instant.js';
import { eventId, newEvent, streamNamed } from '../../../support/given/events.js';
import { MemoryEventStore } from '../../../support/memory/memory-event-store.js';
import { quietLog } from '../../../support/quiet-log.js';

let directory: string;
let options: RecoveryOptions;
let store: MemoryEventStore;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tallygate-left-'));
  options = { directory: join(directory, 'journal'), log: '7264', payloads: currentPayloads, logger: quietLog };
  store = new MemoryEventStore();
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const line = (stream: string, number: number, expected: ExpectedRevision): string =>
  lineOf({ stream: streamNamed(stream), expected, event: encodeEvent(newEvent(number), currentPayloads) });

/** A journal whose process ended without a word. */
async function left(...records: readonly (readonly string[])[]): Promise<void> {
  const journal = await openJournal({ ...options, fileBytes: 65_536 });
  for (const lines of records) await journal.write(lines.join('\n'));
  await journal.close({ keep: true });
}

const read = async (stream: string) =>
  (await store.readStream(streamNamed(stream))).map(({ id, at, event }) => ({ id, at, event }));

describe('the journal of a dead process', () => {
  test('is committed to the log, each event unchanged, and the journal is removed', async () => {
    await left([line('call-a', 1, 'no-stream'), line('call-b', 2, 'no-stream')], [line('call-a', 3, 0)]);
    expect(await countUnflushed(options)).toBe(3);
    expect(await recoverJournals(options, store)).toBe(3);
    expect(await read('call-a')).toEqual([newEvent(1), newEvent(3)]);
    expect(await read('call-b')).toEqual([newEvent(2)]);
    expect(await readdir(options.directory)).toEqual([]);
    expect(await recoverJournals(options, store)).toBe(0);
  });
  test('is committed in its order, so that no call spends what is given back behind it', async () => {
    await left([line('call-a', 1, 'no-stream'), line('call-a', 2, 0), line('call-b', 3, 'no-stream')]);
    const write = async (batch: readonly Append[]) => {
      const outcomes: AppendResult[] = [];
      for (const { stream, events, expected } of batch) outcomes.push(await store.append(stream, events, expected));
      return outcomes;
    };
    const limits = { appends: 100, size: 100_000, patienceMs: 60_000, outcomeGraceMs: 60_000 };
    const group = new GroupCommit(write, limits);
    await recoverJournals(options, {
      readStream: store.readStream.bind(store),
      append: (stream, events, expected) =>
        group.add({ stream, events: events as EncodedEvent[], expected, size: 10, since: performance.now() }),
    });
    const all = await store.readAll(Position(-1), 10);
    expect(all.map(({ id }) => id)).toEqual([eventId(1), eventId(2), eventId(3)]);
  });
  test('is committed once, however much of it was in the log before', async () => {
    await left([line('call-a', 1, 'no-stream')], [line('call-a', 2, 0), line('call-b', 3, 'no-stream')]);
    await store.append(streamNamed('call-a'), [newEvent(1)], 'no-stream');
    await recoverJournals(options, store);
    expect((await read('call-a')).map(({ id }) => id)).toEqual([eventId(1), eventId(2)]);
    expect((await read('call-b')).map(({ id }) => id)).toEqual([eventId(3)]);
  });
  test('is set aside, not committed again, where its calls have left the log for an archive', async () => {
    await left([line('call-a', 1, 'no-stream'), line('call-b', 2, 'no-stream')]);
    const archived = {
      append: store.append.bind(store),
      readStream: (stream: StreamName) =>
        stream === 'call-a' ? Promise.reject(new Failure('log-archived')) : store.readStream(stream),
    };
    const later = { ...options, archivedBefore: Instant(newEvent(1).at + 1) };
    expect(await recoverJournals(later, archived)).toBe(1);
    const [kept = ''] = await readdir(options.directory);
    expect(kept).toMatch(/^archived-/);
    expect(await readFile(join(options.directory, kept), 'utf8')).toBe(`${line('call-a', 1, 'no-stream')}\n`);
    expect(await read('call-a')).toEqual([]);
    expect(await read('call-b')).toEqual([newEvent(2)]);
  });
  test('is committed by the next start if this one ends in the middle', async () => {
    await left([line('call-a', 1, 'no-stream'), line('call-b', 2, 'no-stream')]);
    const dying = {
      readStream: store.readStream.bind(store),
      append: async (stream: StreamName, ...rest: [Parameters<MemoryEventStore['append']>[1], ExpectedRevision]) => {
        if (stream === 'call-b') throw new Error('connection terminated');
        return store.append(stream, ...rest);
      },
    };
    await expect(recoverJournals(options, dying)).rejects.toThrow('connection terminated');
    await left([line('call-c', 3, 'no-stream')]);
    expect(await recoverJournals(options, store)).toBe(3);
    for (const [stream, number] of [
      ['call-a', 1],
      ['call-b', 2],
      ['call-c', 3],
    ] as const)
      expect(await read(stream)).toEqual([newEvent(number)]);
  });
  test('is set aside for an unacknowledged event if the log has another outcome', async () => {
    await left([line('call-a', 1, 'no-stream'), line('call-a', 2, 0)]);
    await store.append(streamNamed('call-a'), [newEvent(1)], 'no-stream');
    await store.append(streamNamed('call-a'), [newEvent(9)], 0);
    expect(await recoverJournals(options, store)).toBe(1);
    const [kept = ''] = await readdir(options.directory);
    expect(kept).toMatch(/^refused-/);
    expect(await readFile(join(options.directory, kept), 'utf8')).toBe(`${line('call-a', 2, 0)}\n`);
    expect(await recoverJournals(options, store)).toBe(0);
    expect(await countUnflushed(options)).toBe(0);
  });
  test('is empty if it was never ready', async () => {
    const [folder] = await (async () => {
      await left([]);
      return readdir(options.directory);
    })();
    await rm(join(options.directory, folder ?? '', 'b'));
    await writeFile(join(options.directory, folder ?? '', 'a'), '');
    expect(await recoverJournals(options, store)).toBe(0);
    expect(await readdir(options.directory)).toEqual([]);
  });
  test('of another database is left in place', async () => {
    await left([line('call-a', 1, 'no-stream')]);
    const elsewhere = { ...options, log: 'another' };
    expect(await recoverJournals(elsewhere, store)).toBe(0);
    expect(await countUnflushed(elsewhere)).toBe(0);
    expect(await recoverJournals(options, store)).toBe(1);
  });
  test('is skipped where there has never been a journal', async () => {
    expect(await recoverJournals(options, store)).toBe(0);
    expect(await countUnflushed(options)).toBe(0);
  });
});

describe('a journal that cannot be read', () => {
  const expectRefusal = async (words: RegExp): Promise<void> => {
    const placing = recoverJournals(options, store);
    await expect(placing).rejects.toMatchObject({ code: 'store-unavailable' });
    const reason = await placing.catch(({ details }) => String(details.reason));
    expect(reason).toMatch(words);
    expect(reason).toMatch(/The journal in .*left-.* cannot be read/);
    // It is still there for whoever can.
    expect((await readdir(options.directory)).length).toBe(1);
  };

  test('prevents a start with an error that says what to do, if it is damaged', async () => {
    await left([line('call-a', 1, 'no-stream')], [line('call-a', 2, 0)]);
    const [folder = ''] = await readdir(options.directory);
    const path = join(options.directory, folder, 'a');
    const content = await readFile(path);
    content.writeUInt8(content.readUInt8(540) ^ 1, 540);
    await writeFile(path, content);
    await expectRefusal(/records of the journal are missing/);
  });
  test('prevents a start with an error that says what to do, if a newer release wrote it', async () => {
    const event = { type: 'CreditLent' } as never as DomainEvent;
    const { id, at } = newEvent(1);
    const lent = new EncodedEvent(id, at, event, 1, encodePayload({ quota: 5 }));
    await left([lineOf({ stream: streamNamed('call-a'), expected: 'no-stream', event: lent })]);
    await expectRefusal(/CreditLent/);
  });
});
