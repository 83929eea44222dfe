import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openEventLog } from '../../src/bootstrap/open-event-log.js';
import { beginning } from '../../src/domain/events/events.js';
import { eventId, newEvent, streamNamed } from '../support/given/events.js';
import { MemoryEventLog } from '../support/memory/memory-event-log.js';
import { until } from '../support/until.js';

/* How a node comes to its log, over an engine that is no Postgres and whose positions have gaps. */

const call = streamNamed('call-a');
let dataDir: string;
let engine: MemoryEventLog;
let lost: string[];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'tallygate-opening-'));
  engine = new MemoryEventLog();
  lost = [];
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const open = (journal = true) =>
  openEventLog({
    engine,
    isOurs: true,
    database: { dataDir, journal, appendPatienceMs: 10_000 },
    onLost: (reason) => void lost.push(reason),
    log: pino({ level: 'silent' }),
  });

const logged = async () => (await engine.store.readAll(beginning, 100)).map(({ id }) => id);
const journals = () => readdir(join(dataDir, 'journal')).catch(() => []);

/** Its journal is there: events of calls are durable though the engine does not answer. */
async function nodeWithJournal() {
  const node = await open();
  engine.away = true;
  let number = 900;
  await until(() => {
    number++;
    return node.store.appendDurable(streamNamed(`call-${number}`), newEvent(number), 'no-stream').catch(() => null);
  });
  engine.away = false;
  await node.store.head();
  return node;
}

test('the journal of a dead node is committed by the next one before it begins, at any positions', async () => {
  const node = await nodeWithJournal();
  const before = await logged();
  engine.away = true;
  expect(await node.store.appendDurable(call, newEvent(1), 'no-stream')).toEqual({ ok: true });
  expect(await node.store.appendDurable(call, newEvent(2), 0)).toEqual({ ok: true });
  expect(await logged()).toEqual(before);
  // It dies here: nothing is closed.
  engine.away = false;
  const next = await open();
  expect(await logged()).toEqual([...before, eventId(1), eventId(2)]);
  expect(next.began).toBe(await engine.store.head());
  await next.store.close();
  await node.store.close();
});

test('a node that has been fenced off answers no call any more, and reports the reason', async () => {
  const older = await nodeWithJournal();
  const newer = await open();
  expect(older.isFencedOff()).toBe(false);
  await expect(older.store.appendDurable(call, newEvent(1), 'no-stream')).rejects.toMatchObject({
    code: 'store-unavailable',
  });
  expect(older.isFencedOff()).toBe(true);
  expect(lost).toEqual([expect.stringContaining('has taken over the journal')]);
  expect(newer.isFencedOff()).toBe(false);
  await newer.store.close();
  await older.store.close();
});

test('an event without a journal is durable when it is committed, and acknowledged then', async () => {
  const { store } = await open(false);
  const reports: unknown[] = [];
  expect(await store.appendDurable(call, newEvent(1), 'no-stream', (position) => reports.push(position))).toEqual({
    ok: true,
  });
  expect(reports).toEqual([await engine.store.head()]);
  expect(await journals()).toEqual([]);
  await store.close();
});
