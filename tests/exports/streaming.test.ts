import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { logExportQueries } from '../../src/application/usage/log-export.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import type { ProjectionRunner } from '../../src/projections/engine/runner.js';
import { alice, bob, cleared, type Fact, registered, reserved, settled, when } from '../projections/history.js';
import { Projected } from '../projections/projected.js';
import { settableClock } from '../support/given/fixed-clock.js';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres/postgres.js';
import { refusal } from '../support/refusal.js';
import { type ServedExports, type ServedExportsOptions, serveExports } from './served-exports.js';

const lines = 5_000;
const linesPerPage = 100;
/** Pages that lie between server and client: about a megabyte. */
const maxAhead = 25;
const january = Date.UTC(2026, 0, 1);
const usage = '/export/usage.csv?month=2026-01';

/** Long names make long lines: what lies between server and client must not hold the whole file. */
const model = 'm'.repeat(200);
const called = (n: number): Fact[] =>
  [reserved(`a${n}`, 9, { facts: { model } }), settled(`a${n}`, 9, 7, { facts: { model } })].map((fact) =>
    when(Instant(january + n * 60_000), fact),
  );

let database: TestDatabase;
let projected: Projected;
let progress: ProjectionRunner;
const started: ServedExports[] = [];

const serve = async (options: Partial<ServedExportsOptions> = {}): Promise<ServedExports> => {
  const clock = settableClock(Instant(Date.UTC(2026, 2, 1)));
  const exports = await serveExports(projected, { progress, clock, ...options });
  started.push(exports);
  return exports;
};

beforeAll(async () => {
  database = await createEmptyDatabase();
  projected = new Projected(database);
  progress = await projected.start();
  const calls = Array.from({ length: lines }, (_, n) => called(n)).flat();
  await projected.given(registered(alice, 'alice'), registered(bob, 'bob'), ...calls);
}, 60_000);
afterAll(async () => {
  for (const exports of started) await exports.stop();
  await projected?.close();
  await database?.drop();
});

describe('a file of 5,000 lines', () => {
  test('is read no faster than it is consumed', async () => {
    const exports = await serve();
    const slow = await exports.ask(alice, usage);
    const whole = await (await exports.ask(alice, usage)).body();
    expect(whole.trimEnd().split('\r\n')).toHaveLength(1 + lines);
    const [first, second] = exports.readings;
    expect(second).toEqual({ pages: lines / linesPerPage + 1, ended: true });
    expect(first?.ended).toBe(false);
    expect(first?.pages).toBeLessThanOrEqual(maxAhead);
    expect(await slow.body()).toBe(whole);
    expect(first).toEqual(second);
  });

  test('has two slots for each user: the third export is asked to retry later, and another user is served', async () => {
    const exports = await serve();
    await exports.ask(alice, usage);
    await exports.ask(alice, usage);
    const third = await exports.ask(alice, usage);
    expect(third.status).toBe(429);
    expect(third.answer.headers).toMatchObject({ 'content-type': 'text/plain; charset=utf-8', 'retry-after': '10' });
    expect(await third.body()).toBe('too-many-attempts\n');
    expect((await exports.ask(bob, usage)).status).toBe(200);
  });

  test('is read no further, and its slot is free, once its reader has disconnected', async () => {
    const exports = await serve();
    const asked = [await exports.ask(alice, usage), await exports.ask(alice, usage)];
    for (const { leave } of asked) leave();
    await vi.waitFor(() => expect(exports.readings.map(({ ended }) => ended)).toEqual([true, true]), 10_000);
    for (const { pages } of exports.readings) expect(pages).toBeLessThanOrEqual(maxAhead);
    const again = [await exports.ask(alice, usage), await exports.ask(alice, usage)];
    expect(again.map(({ status }) => status)).toEqual([200, 200]);
  });

  test('releases its slot also when its reader has disconnected before anything was found', async () => {
    let find = () => {};
    const found = new Promise<void>((resolve) => {
      find = resolve;
    });
    const exports = await serve({ before: () => found });
    const asked = [exports.ask(alice, usage), exports.ask(alice, usage)];
    await vi.waitFor(() => expect(exports.readings).toHaveLength(2), 10_000);
    await exports.hangUp();
    await Promise.allSettled(asked);
    find();
    await vi.waitFor(async () => expect((await exports.ask(alice, usage)).status).toBe(200), 10_000);
  });

  test.each([
    ['that takes too long', { stalledMs: 60_000, maxMs: 1 }],
    ['that is not read', { stalledMs: 1, maxMs: 60_000 }],
  ])('%s breaks off, and is marked as incomplete', async (_, patience) => {
    const exports = await serve({ patience });
    const { body } = await exports.ask(alice, usage);
    await vi.waitFor(() => expect(exports.readings).toEqual([{ pages: expect.any(Number), ended: true }]), 10_000);
    await expect(body()).rejects.toThrow();
  });
});

describe('the size of an exported log', () => {
  const viewer = { id: alice, role: 'ordinary' } as const;
  const exported = async (max: number, reached = true): Promise<number> => {
    const head = await projected.store.head();
    const ports = { db: projected.db, progress: { reached: async () => reached }, tail: { position: () => head } };
    return readAll(await logExportQueries(ports, max).exportedLog(viewer, {}, true));
  };
  const readAll = async (pages: AsyncIterable<readonly unknown[]>): Promise<number> => {
    let count = 0;
    for await (const page of pages) count += page.length;
    return count;
  };

  test('is at most the limit of lines, or it is refused before it begins', async () => {
    expect(await exported(lines)).toBe(lines);
    await expect(exported(lines - 1)).rejects.toThrow(refusal('export-too-large', { allowed: lines - 1 }));
  });

  test('is incomplete and marked so where the log is cleared meanwhile', async () => {
    const head = await projected.store.head();
    const ports = { db: projected.db, progress, tail: { position: () => head } };
    const pages = await logExportQueries(ports).exportedLog(viewer, {}, true);
    await pages.next();
    await projected.given(cleared(Instant(january + 60_000)));
    await expect(readAll(pages)).rejects.toThrow(refusal('usage-log-cleared'));
    const after = { from: january / 1000 + 60 };
    const untouched = await logExportQueries(ports).exportedLog(viewer, after, true);
    expect(await readAll(untouched)).toBe(lines - 1);
  });

  test('is not known while the log is being rebuilt, and the export is refused', async () => {
    await expect(exported(lines, false)).rejects.toThrow(refusal('store-unavailable'));
  });
});
