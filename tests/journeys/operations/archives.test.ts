import { copyFile, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { archiveFiles } from '../../../src/adapters/archives/archive-files.js';
import { postgresDetachedLog } from '../../../src/adapters/archives/detached-log.js';
import { newClient } from '../../../src/adapters/database/postgres.js';
import { postgresSettledCalls } from '../../../src/adapters/event-log/settled-calls.js';
import { sealReading } from '../../../src/adapters/seals/seal-reading.js';
import { checkKept, settledSince } from '../../../src/application/audit/repair/kept-calls.js';
import { previewRepair } from '../../../src/application/audit/repair/repair-preview.js';
import { verifyLog } from '../../../src/application/audit/verify-log.js';
import {
  type ArchivePorts,
  archivePeriod,
  detachPeriod,
  restorePeriod,
} from '../../../src/application/books/archive-period.js';
import { booksOf, closePeriod } from '../../../src/application/books/close-period.js';
import { handle } from '../../../src/application/handle.js';
import { sealNewEvents } from '../../../src/application/seals/sealer.js';
import { verifyPortsOf } from '../../../src/cli/audit/verify.js';
import {
  beginning,
  isCallStream,
  type Position,
  type Recorded,
  type StreamName,
  streams,
} from '../../../src/domain/events/events.js';
import { Failure } from '../../../src/domain/kernel/failure.js';
import { CallId, TaskId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { archivedAs } from '../../../src/domain/ledger/closing.js';
import { Period } from '../../../src/domain/ledger/period.js';
import { rebuild } from '../../../src/projections/engine/rebuild.js';
import { verifyReadModel } from '../../../src/projections/engine/verify-read-model.js';
import { ledger } from '../../../src/projections/models/ledger/ledger.js';
import { quotaHistory } from '../../../src/projections/models/quota-history/quota-history.js';
import { openReadModels } from '../../../src/projections/read-models.js';
import { openSealedLog, type SealedLog, verifyExport } from '../../application/seals/sealed-log-setting.js';
import {
  alice,
  aliceKey,
  type Fact,
  granted,
  issued,
  registered,
  repaired,
  reserved,
  settled,
  toRecord,
  when,
} from '../../projections/history.js';
import { settableClock } from '../../support/given/fixed-clock.js';

/* A year of calls, of which eleven months go into archives and come back. */

const months = Array.from({ length: 12 }, (_, month) => `2025-${String(month + 1).padStart(2, '0')}`);
const archived = months.slice(0, 11);
const callsPerMonth = 30;
const personalData = { open: () => Promise.resolve(null), searchToken: (term: string) => term };

const withTask = '20250405120000000abcdTASK';

let log: SealedLog;
let ports: ArchivePorts;
let folder: string;
/** As it was before anything left. */
let whole: readonly Recorded[];
let rows: string;

const fileOf = (period: string) => join(folder, `${period}.ndjson.gz`);
const callIn = (period: string, n: number) => `${period.replace('-', '')}05120000000abcdE${String(n).padStart(3, '0')}`;

async function everything(): Promise<readonly Recorded[]> {
  const events: Recorded[] = [];
  for (let after: Position = beginning; ; ) {
    const page = await log.store.readAll(after, 100);
    const last = page.at(-1);
    if (last === undefined) return events;
    events.push(...page);
    after = last.position;
  }
}

/** What the settlements of March cost, as a question about other prices reads them. */
async function settledInMarch(): Promise<readonly string[]> {
  const calls = postgresSettledCalls(log.database.pool);
  const asked = { upTo: end(), limit: 100, from: Instant(Date.parse('2025-03')), to: Instant(Date.parse('2025-04')) };
  const settled: string[] = [];
  for (let after: Position = beginning; ; ) {
    const page = await calls.page({ ...asked, after });
    if (page.last === null) return settled;
    settled.push(...page.settled);
    after = page.last;
  }
}

const upTo = (events: readonly Recorded[], end: Position) => events.filter(({ position }) => position <= end);

/** All rows of the log up to a position, as one text. */
async function rowsUpTo(end: Position): Promise<string> {
  const { rows } = await log.database.pool.query(
    'SELECT md5(string_agg(e::text, chr(10) ORDER BY position)) AS rows FROM events e WHERE position <= $1',
    [end],
  );
  return rows[0].rows;
}

const projecting = (projection: typeof ledger) => ({
  ...{ projection, feed: log.store, pool: log.database.pool, context: { personalData }, pageSize: 50 },
  newClient: () => newClient(log.database.connection),
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'archives-'));
  log = await openSealedLog();
  const clock = settableClock(Instant(Date.parse('2026-01-20')));
  const record = (facts: readonly Fact[]) =>
    Promise.all(facts.map((fact) => log.store.append(fact.stream, [toRecord(fact)], 'any')));
  for (const period of months) {
    const at = (fact: Fact) => when(Instant(Date.parse(`${period}-05`)), fact);
    if (period === months[0]) {
      await record([at(registered(alice, 'alice'))]);
      await record([at(issued(aliceKey, alice, 1_000_000))]);
    }
    await record([at(granted(alice, 10_000))]);
    if (period === '2025-04') {
      // Its task may fail yet, and its refund is an event of the call.
      const task = { id: TaskId(1), platform: 'video', action: 'generate', publicId: 'task_1' } as const;
      await record([at(reserved(withTask, 50))]);
      await record([at(settled(withTask, 50, 40, { task }))]);
    }
    const ids = Array.from({ length: callsPerMonth }, (_, n) => callIn(period, n));
    await record(ids.map((id) => at(reserved(id, 300))));
    await record(ids.map((id, n) => at(settled(id, 300, 100 + n))));
  }
  // Begun in one month, and ended in the next: it cannot leave with either.
  const over = '20251130235959000abcdEFGH';
  await record([when(Instant(Date.parse('2025-12-05')), reserved(over, 50))]);
  await record([when(Instant(Date.parse('2026-01-02')), settled(over, 50, 40))]);
  const { pool } = log.database;
  ports = {
    ...{ store: log.store, handle: handle(log.store, clock), vault: log.vault, clock, files: archiveFiles },
    ...sealReading(pool),
    detached: postgresDetachedLog(pool),
  };
  await sealNewEvents({ ...log, clock }, { maxEvents: 7 });
  for (const period of months) await closePeriod({ ...ports, store: log.store }, Period(period));
  for (const model of [ledger, quotaHistory]) await rebuild(projecting(model));
  whole = await everything();
  rows = await rowsUpTo(whole.at(-1)?.position ?? beginning);
  for (const period of archived) await archivePeriod(ports, Period(period), fileOf(period));
}, 60_000);
afterAll(async () => {
  await log?.close();
  await rm(folder, { recursive: true, force: true });
});

const detach = async (period: string) => {
  const known = archivedAs(await booksOf(log.store), Period(period));
  if (known === null) throw new Error(`${period} is not archived`);
  return detachPeriod(ports, known, fileOf(period));
};
const verified = (full: boolean) => {
  const { pool } = log.database;
  return verifyLog(verifyPortsOf({ pool, store: log.store, vault: log.vault } as never), { full, given: null });
};
const end = () => whole.at(-1)?.position ?? beginning;

test('archives follow each other, and each is checked without the gateway', async () => {
  let before: string | null = null;
  for (const period of archived) {
    const verdict = await verifyExport(await unzipped(fileOf(period)));
    expect(verdict).toMatchObject({ begins: before, findings: [] });
    before = verdict.head;
  }
});

async function unzipped(path: string): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  for await (const lines of archiveFiles.lines(path)) chunks.push(Buffer.from(`${lines.join('\n')}\n`));
  return chunks;
}

test('an archive of which a part was written when the process died is written whole, beside nothing else', async () => {
  const path = join(folder, 'again.ndjson.gz');
  await writeFile(`${path}.part`, 'half of it');
  await archiveFiles.write(path, pagesOf([['one', 'two'], ['three']]));
  expect((await unzipped(path)).join('')).toBe('one\ntwo\nthree\n');
  await expect(archiveFiles.write(path, pagesOf([['four']]))).rejects.toMatchObject({ code: 'EEXIST' });
  expect((await unzipped(path)).join('')).toBe('one\ntwo\nthree\n');
});

async function* pagesOf(pages: readonly (readonly string[])[]): AsyncGenerator<readonly string[]> {
  yield* pages;
}

test('a file in which one bit is another detaches nothing', async () => {
  const [first = ''] = archived;
  const sound = await readFile(fileOf(first));
  const changed = Buffer.from(sound);
  changed[changed.length >> 1] = (changed[changed.length >> 1] ?? 0) ^ 1;
  await writeFile(fileOf(first), changed);
  await expect(detach(first)).rejects.toThrow('is not the archive of 2025-01');
  await writeFile(fileOf(first), sound);
  expect(await rowsUpTo(end())).toBe(rows);
  await expect(detach(archived[1] ?? '')).rejects.toMatchObject({
    details: { reason: '2025-01 is to be detached first' },
  });
});

test('nothing is detached while a price repair is being posted or undone', async () => {
  const record = async (facts: readonly Fact[]) => {
    for (const fact of facts) await log.store.append(fact.stream, [toRecord(fact)], 'any');
  };
  const [ordered, ended, undoOrdered, undone] = repaired(alice).map((fact) => [fact]);
  const refused = { code: 'period-not-ready', details: { reason: expect.stringContaining('a price repair') } };
  const [first = ''] = archived;
  await record(ordered ?? []);
  await expect(detach(first)).rejects.toMatchObject(refused);
  await record([...(ended ?? []), ...(undoOrdered ?? [])]);
  await expect(detach(first)).rejects.toMatchObject(refused);
  expect(await ports.detached.all()).toEqual([]);
  await record(undone ?? []);
});

test('eleven months leave the log, which says the same as before: events, balances, read models, verification', async () => {
  const { pool } = log.database;
  const counted = async () =>
    (await pool.query("SELECT count(*)::int AS n FROM events WHERE stream LIKE 'call-%'")).rows[0].n;
  const before = await counted();
  const march = await settledInMarch();
  expect(march).toHaveLength(callsPerMonth);
  // Interrupted after one step, and done again.
  const first = archivedAs(await booksOf(log.store), Period(archived[0] ?? ''));
  if (first === null) throw new Error('the first month is not archived');
  await ports.detached.detach({ ...first, until: Instant(Date.parse('2025-02-01')), file: fileOf(first.period) });
  await ports.detached.takeAway(first.period);
  for (const period of archived) await detach(period);
  // Calls that reach into the seal behind a month stay.
  expect(before - (await counted())).toBeGreaterThan(archived.length * (callsPerMonth - 8) * 2);
  expect(upTo(await everything(), end())).toEqual(whole);
  expect(await settledInMarch()).toEqual(march);
  expect(await verified(false)).toMatchObject({ found: 0, closed: '2025-11' });
  expect(await verified(true)).toMatchObject({ found: 0, from: -1 });
  for (const model of [ledger, quotaHistory]) {
    expect((await verifyReadModel(projecting(model))).differences).toEqual([]);
    await rebuild(projecting(model));
    expect((await verifyReadModel(projecting(model))).differences).toEqual([]);
  }
});

test('a call that has left is said to be in its archive, and one that is still there is read', async () => {
  const call = (id: string) => log.store.readStream(streams.call(CallId(id)));
  await expect(call(callIn('2025-03', 2))).rejects.toMatchObject({
    code: 'log-archived',
    details: { period: '2025-03', file: '2025-03.ndjson.gz', reason: expect.stringContaining('audit restore') },
  });
  expect(await call('20251130235959000abcdEFGH')).toHaveLength(2);
  expect(await call(withTask)).toHaveLength(2);
  expect(await call('20260301000000000neverMad')).toEqual([]);
});

test('a price repair of a time of which calls have left is refused by the name of their archive', async () => {
  const since = (from: string) => {
    const scope = { from: Instant(Date.parse(from)), to: Instant(Date.parse('2027-01')), model: null, userId: null };
    const right = { file: 'right', records: new Map(), groupRatio: new Map(), quotaPerUnit: '500000' };
    const { lines, detached } = ports;
    return previewRepair(
      { db: openReadModels(log.database.pool), lines, store: log.store, archives: detached },
      { scope: { ...scope, group: null, channelId: null, apiKeyId: null }, right, isCharging: false },
      end(),
    );
  };
  await expect(since('2025-03-31')).rejects.toMatchObject({ code: 'log-archived', details: { period: '2025-03' } });
  await expect(since('2025-11-30')).rejects.toMatchObject({ details: { file: '2025-11.ndjson.gz' } });
  await checkKept(ports.detached, settledSince(Instant(Date.parse('2025-12-01'))));
});

test('every call is read whole or refused, so that none is continued or corrected by a part of its events', async () => {
  const sizes = new Map<StreamName, number>();
  for (const { stream } of whole) if (isCallStream(stream)) sizes.set(stream, (sizes.get(stream) ?? 0) + 1);
  let left = 0;
  for (const [stream, size] of sizes) {
    const found = await log.store.readStream(stream).catch((error: unknown) => {
      if (error instanceof Failure && error.code === 'log-archived') return null;
      throw error;
    });
    if (found === null) left += 1;
    else expect({ stream, size: found.length }).toEqual({ stream, size });
  }
  expect(left).toBeGreaterThan(archived.length * (callsPerMonth - 8));
});

test('a reader of the beginning of the log is refused where an archive is missing or is another file', async () => {
  const [, second = ''] = archived;
  await rename(fileOf(second), `${fileOf(second)}.away`);
  await expect(everything()).rejects.toMatchObject({ code: 'archive-missing', details: { file: '2025-02.ndjson.gz' } });
  // Who wants the newest events alone needs no archive, however few there are behind it.
  expect((await log.store.readNewest(10_000)).at(-1)?.position).toBe(await log.store.head());
  await copyFile(fileOf(archived[0] ?? ''), fileOf(second));
  await expect(everything()).rejects.toMatchObject({
    details: { reason: 'the archive 2025-02.ndjson.gz is not the one that was written' },
  });
  await rename(`${fileOf(second)}.away`, fileOf(second));
  expect(upTo(await everything(), end())).toEqual(whole);
});

test('archives are read back from the newest on, until every row of the log is as it was', async () => {
  await expect(restorePeriod(ports, fileOf(archived[0] ?? ''))).rejects.toMatchObject({ code: 'period-not-ready' });
  const newest = fileOf(archived.at(-1) ?? '');
  const sound = await readFile(newest);
  const flipped = Buffer.from(sound);
  flipped[20] = (flipped[20] ?? 0) ^ 1;
  await writeFile(newest, flipped);
  await expect(restorePeriod(ports, newest)).rejects.toThrow('is no archive of this log, or was changed');
  await writeFile(newest, sound);
  for (const period of [...archived].reverse()) expect(await restorePeriod(ports, fileOf(period))).toBe(period);
  expect(await restorePeriod(ports, newest)).toBe(archived.at(-1));
  expect(await rowsUpTo(end())).toBe(rows);
  expect(await verified(true)).toMatchObject({ found: 0, from: -1 });
});
