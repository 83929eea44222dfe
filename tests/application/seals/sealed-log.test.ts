import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip, gzipSync } from 'node:zlib';
import type { PoolClient } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Seal } from '../../../src/application/ports/seal-ports.js';
import { compareHead, headText, readHead } from '../../../src/application/seals/compare-head.js';
import { positionOf, sealDigest } from '../../../src/application/seals/seal.js';
import { rotateSealKey } from '../../../src/application/seals/seal-keys.js';
import { type SealFinding, SealWalk } from '../../../src/application/seals/seal-walk.js';
import { acceptNewestSeal, SealsReplaced } from '../../../src/application/seals/seal-witness.js';
import { sealNewEvents } from '../../../src/application/seals/sealer.js';
import { trustedKeys } from '../../../src/application/seals/trusted-keys.js';
import { beginning, Position } from '../../../src/domain/events/events.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import {
  exported,
  givenLines,
  openSealedLog,
  type SealedLog,
  storesOn,
  verifierPath,
  verifyExport,
  walked,
} from './sealed-log-setting.js';

/* Twelve events in three seals of four, and two that are not sealed yet; whatever is done to them is found. */

let log: SealedLog;
let head: string;
let firstKey: string;

beforeAll(async () => {
  log = await openSealedLog();
  await log.append(0, 8);
  await sealNewEvents(log, { maxEvents: 4 });
  firstKey = (await log.keys.all())[0]?.publicKey ?? '';
  await rotateSealKey(log);
  await log.append(8, 4);
  expect(await sealNewEvents(log, { maxEvents: 4 })).toBe(1);
  await log.append(12, 2);
  const newest = await log.seals.newest();
  head = newest === null ? '' : headText(newest);
});
afterAll(() => log.close());

const noHead = { number: -1, digest: '' };

const codesOf = (findings: readonly { readonly code: string; readonly seal: number | null }[]): string[] =>
  findings.map(({ code, seal }) => `${code} ${seal}`);

test('an unchanged log is sound by both verifiers and by the first key alone', async () => {
  const whole = { events: 12, seals: 3, unsealed: 2, findings: [] };
  expect(await walked(log)).toMatchObject(whole);
  expect(await walked(log, new Set([firstKey]))).toMatchObject(whole);
  expect(await verifyExport([await exported(log)], [firstKey])).toMatchObject({ ...whole, events: 14, head });
});

test('an export is read whatever pieces it comes in', async () => {
  const bytes = await exported(log);
  const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, n) => bytes.subarray(n * 7, n * 7 + 7));
  expect(await verifyExport(pieces)).toMatchObject({ events: 14, seals: 3, findings: [] });
});

describe('in the database', () => {
  let client: PoolClient;
  beforeEach(async () => {
    client = await log.database.pool.connect();
    await client.query('BEGIN; DROP INDEX events_of_stream');
  });
  afterEach(async () => {
    await client.query('ROLLBACK');
    client.release();
  });

  test.each([
    {
      _name: 'a changed payload is found',
      sql: `UPDATE events SET data = replace(data::text, '密', '蜜')::json WHERE position = 5`,
      found: ['events-altered 1'],
    },
    {
      _name: 'a line break in a payload is found',
      sql: `UPDATE events SET data = (data::text || E'\\n')::json WHERE position = 5`,
      found: ['events-altered 1'],
    },
    {
      _name: 'a changed type is found',
      sql: `UPDATE events SET type = 'LogsCleared' WHERE position = 0`,
      found: ['events-altered 0'],
    },
    {
      _name: 'a changed version is found',
      sql: 'UPDATE events SET version = 2 WHERE position = 11',
      found: ['events-altered 2'],
    },
    {
      _name: 'a changed time is found',
      sql: 'UPDATE events SET at = at + 1 WHERE position = 4',
      found: ['events-altered 1'],
    },
    {
      _name: 'a changed event id is found',
      sql: 'UPDATE events SET event_id = gen_random_uuid() WHERE position = 4',
      found: ['events-altered 1'],
    },
    {
      _name: 'an event put into another stream is found',
      sql: `UPDATE events SET stream = 'thing-9' WHERE position = 4`,
      found: ['events-altered 1'],
    },
    {
      _name: 'a changed revision is found',
      sql: 'UPDATE events SET revision = 7 WHERE position = 4',
      found: ['events-altered 1'],
    },
    {
      _name: 'two swapped events are found',
      sql: 'UPDATE events SET position = -2 WHERE position = 5; UPDATE events SET position = 5 WHERE position = 6; UPDATE events SET position = 6 WHERE position = -2',
      found: ['events-altered 1'],
    },
    { _name: 'a dropped event is found', sql: 'DELETE FROM events WHERE position = 6', found: ['events-missing 1'] },
    {
      _name: 'the last event of a seal is missed',
      sql: 'DELETE FROM events WHERE position = 7',
      found: ['events-missing 1'],
    },
    {
      _name: 'all events of a seal are missed',
      sql: 'DELETE FROM events WHERE position BETWEEN 4 AND 7',
      found: ['events-missing 1'],
    },
    { _name: 'a truncated log is found', sql: 'DELETE FROM events WHERE position > 6', found: ['log-ends-early 1'] },
    { _name: 'an emptied log is found', sql: 'DELETE FROM events', found: ['log-ends-early 0'] },
    {
      _name: 'a missing seal is found',
      sql: 'DELETE FROM seals WHERE number = 1',
      found: ['seals-missing 2', 'events-added null'],
    },
    {
      _name: 'a seal for other events is found',
      sql: `UPDATE seals SET events_hash = repeat('0', 64) WHERE number = 1`,
      found: ['seal-altered 1', 'events-altered 1', 'chain-broken 2'],
    },
    {
      _name: 'a changed signature is found',
      sql: `UPDATE seals SET signature = reverse(signature) WHERE number = 1`,
      found: ['seal-altered 1'],
    },
    {
      _name: 'a seal of an unknown key is found',
      sql: `UPDATE seals SET key_id = 'of nobody' WHERE number = 2`,
      found: ['seal-key-unknown 2'],
    },
    {
      _name: 'a key in the place of the one named is found',
      sql: `UPDATE seal_keys SET endorsement = reverse(endorsement) WHERE number = 1`,
      found: ['seal-key-unknown 2'],
    },
  ])('$_name', async ({ sql, found }) => {
    await client.query(sql);
    expect(codesOf((await walked(storesOn(client))).findings)).toEqual(found);
    const { findings } = await verifyExport([await exported({ ...log, ...storesOn(client) })], [firstKey]);
    expect(findings.length).toBeGreaterThan(0);
  });

  test('an older copy agrees with itself, and not with a head that was noted', async () => {
    await client.query('DELETE FROM events WHERE position > 7; DELETE FROM seals WHERE number > 1');
    const older = { ...log, ...storesOn(client) };
    const noted = readHead(head);
    if (noted === null) throw new Error('no head was noted');
    expect((await walked(older)).findings).toEqual([]);
    expect((await compareHead(older, noted)).outcome).toBe('missing');
    expect(codesOf((await verifyExport([await exported(older)], [firstKey], noted)).findings)).toEqual([
      'head-missing 2',
    ]);
  });

  test('a log that continues an older copy differs from the head that was noted', async () => {
    await client.query(`
      DELETE FROM seals WHERE number > 1;
      UPDATE events SET data = '{"key":"option 9","value":{}}' WHERE position = 9`);
    const other = { ...log, ...storesOn(client) };
    // Nobody puts another newest seal in the place of the one that was made last, unless it is called the right one.
    await expect(sealNewEvents({ ...log, ...other })).rejects.toThrow(SealsReplaced);
    const newest = await other.seals.newest();
    expect(
      newest !== null && (await acceptNewestSeal({ ...log, ...other }, readHead(headText(newest)) ?? noHead)),
    ).toBe(true);
    await sealNewEvents({ ...log, ...other }, { maxEvents: 4 });
    const noted = readHead(head);
    if (noted === null) throw new Error('no head was noted');
    expect((await walked(other)).findings).toEqual([]);
    expect((await compareHead(other, noted)).outcome).toBe('differs');
    expect(codesOf((await verifyExport([await exported(other)], [firstKey], noted)).findings)).toEqual([
      'head-differs 2',
    ]);
  });

  test.each([
    { _name: 'the newest seals are taken away', sql: 'DELETE FROM seals WHERE number > 1' },
    { _name: 'another seal is the newest', sql: `UPDATE seals SET events_hash = repeat('0', 64) WHERE number = 2` },
    { _name: 'all seals and their witness are taken away', sql: 'DELETE FROM seals; DELETE FROM seal_witness' },
    { _name: 'the witness is written by somebody else', sql: 'UPDATE seal_witness SET number = 1' },
    {
      _name: 'a seal was added by somebody else',
      sql: `INSERT INTO seals SELECT 3, 12, 13, 2, events_hash, previous, at, key_id, signature FROM seals WHERE number = 2`,
    },
  ])('nothing more is sealed where $_name', async ({ sql }) => {
    await client.query(sql);
    const other = { ...log, ...storesOn(client) };
    const before = await other.seals.newest();
    await expect(sealNewEvents(other)).rejects.toThrow(SealsReplaced);
    expect(await other.seals.newest()).toEqual(before);
  });

  test('a gateway that has made a newer seal adds no other to an older copy', async () => {
    const other = { ...log, ...storesOn(client) };
    const seen = { newest: null };
    const older = await other.seals.witness();
    expect(await sealNewEvents(other, { seen })).toBe(1);
    await client.query('DELETE FROM seals WHERE number > 2');
    if (older !== null) await other.seals.keepWitness(older);
    await expect(sealNewEvents(other, { seen })).rejects.toThrow('which this process has seen');
  });

  test('what comes into the log while it is sealed waits for the next round', async () => {
    const other = { ...log, ...storesOn(client) };
    const head = await other.lines.head();
    const lines = { ...other.lines, head: () => Promise.resolve(Position(Number(head) - 1)) };
    expect(await sealNewEvents({ ...other, lines }, { maxEvents: 1 })).toBe(1);
    expect(await sealNewEvents({ ...other, lines }, { maxEvents: 1 })).toBe(0);
  });
});

test('each flipped byte of an event is found in its seal', async () => {
  const lines = await log.lines.after(beginning, 100);
  const sealed = lines.filter((line) => [3, 5, 8].includes(positionOf(line)));
  const missed: string[] = [];
  for (const line of sealed) {
    const bytes = Buffer.from(line);
    // From behind the position: with another one it would be another event, of which the test above knows.
    for (let at = line.indexOf(',') + 1; at < bytes.length; at++) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (bytes[at] ?? 0) ^ 0x20;
      const other = lines.map((each) => (each === line ? flipped.toString('latin1') : each));
      // As Latin-1, no two sequences of bytes become the same text.
      const { findings } = await walked({ ...log, lines: givenLines(other) });
      const expected = Math.floor(positionOf(line) / 4);
      if (findings.length !== 1 || findings[0]?.seal !== expected) missed.push(`${at} of ${line}`);
    }
  }
  expect(missed).toEqual([]);
});

test('each flipped byte of an export is found by the verifier outside', async () => {
  const bytes = await exported(log);
  const missed: number[] = [];
  // The last sealed event, its seal, and what lies behind: before them is nothing of another kind.
  for (let at = bytes.indexOf(Buffer.from('\n[11,')); at < bytes.length; at++) {
    const flipped = Buffer.from(bytes);
    flipped[at] = (bytes[at] ?? 0) ^ 0x01;
    if ((await verifyExport([flipped], [firstKey])).findings.length === 0) missed.push(at);
  }
  // Only what nobody has sealed yet can be changed unseen.
  const [from, to] = [bytes.indexOf('\n[12,'), bytes.indexOf('\n{"end"')];
  expect(missed.filter((at) => at < from || at >= to)).toEqual([]);
});

test('the verifier outside runs from its file alone, and says where an export was cut', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'seals-'));
  const run = async (...args: string[]) =>
    promisify(execFile)(process.execPath, [verifierPath.pathname, ...args, '--json']).then(
      ({ stdout }) => ({ code: 0, verdict: JSON.parse(stdout) }),
      ({ code, stdout }) => ({ code, verdict: JSON.parse(stdout) }),
    );
  const bytes = await exported(log);
  await writeFile(join(folder, 'log.ndjson.gz'), gzipSync(bytes));
  await writeFile(join(folder, 'cut.ndjson'), bytes.subarray(0, bytes.indexOf(Buffer.from('\n[10,')) + 20));
  expect(await run(join(folder, 'log.ndjson.gz'), '--public-key', firstKey, '--head', head)).toMatchObject({
    code: 0,
    verdict: { events: 14, trusted: true, findings: [] },
  });
  expect(await run(join(folder, 'cut.ndjson'), '--head', head)).toMatchObject({
    code: 1,
    verdict: { seals: 2, findings: [{ code: 'cut-off' }, { code: 'head-missing' }] },
  });
  await rm(folder, { recursive: true });
});

test('of two nodes that seal at once, each event is sealed once', async () => {
  const other = await openSealedLog();
  await other.append(0, 12);
  await Promise.all([sealNewEvents(other, { maxEvents: 3 }), sealNewEvents(other, { maxEvents: 5 })]);
  expect(await walked(other)).toMatchObject({ events: 12, unsealed: 0, findings: [] });
  expect(await other.keys.all()).toHaveLength(1);
  await other.close();
});

test('what a replaced key signs afterwards is refused, and the seal of an event can be looked up', async () => {
  expect((await log.keys.all()).map(({ secret }) => secret !== null)).toEqual([false, true]);
  expect((await log.seals.covering(Position(6)))?.number).toBe(1);
  expect(await log.seals.covering(Position(12))).toBeNull();
});

test('a seal is refused where its key had been replaced before the events that are read', async () => {
  const [before, newest] = await log.seals.after(0, 2);
  if (before === undefined || newest === undefined) throw new Error('there are no seals');
  const { trusted } = trustedKeys(await log.keys.all(), null);
  const found: SealFinding[] = [];
  const from = { number: before.number, digest: sealDigest(before), keyNumber: 2 };
  await SealWalk.begin({ seals: log.seals, keys: trusted, from, found: (finding) => void found.push(finding) });
  expect(codesOf(found)).toEqual([`seal-key-replaced ${newest.number}`]);
});

describe('outside', () => {
  const verdictOn = async (edit: (lines: string[]) => readonly string[], given = [firstKey]) => {
    const lines = (await exported(log)).toString().trimEnd().split('\n');
    return codesOf((await verifyExport([Buffer.from(`${edit(lines).join('\n')}\n`)], given)).findings);
  };
  const isSealed = (line: string) => line.startsWith('{"seal"');

  test('newest seals that were cut are found, also where the last line counts what is left', async () => {
    const codes = await verdictOn((lines) => {
      const left = lines.slice(0, lines.findLastIndex(isSealed) - 4);
      const end = { ...JSON.parse(lines.at(-1) ?? ''), end: ['tallygate-end-1', 8, 2, '0'.repeat(64), 0, 'none'] };
      return [...left, JSON.stringify(end)];
    });
    expect(codes).toEqual(['counts null', 'end-altered null']);
  });

  test('a file without seals is not as it was sealed', async () => {
    expect(await verdictOn((lines) => lines.filter((line) => !isSealed(line)))).toContain('not-sealed null');
  });

  test('events without a seal that are much older than the export are found', async () => {
    const late = { ...log, clock: { ...log.clock, now: () => Instant(Date.now() + 3_600_000) } };
    expect(codesOf((await verifyExport([await exported(late)], [firstKey])).findings)).toEqual(['not-sealed null']);
  });

  test('the newest key alone vouches for all seals before it', async () => {
    const newest = (await log.keys.all()).at(-1)?.publicKey ?? '';
    expect(await verdictOn((lines) => lines, [newest])).toEqual([]);
    expect((await walked(log, new Set([newest]))).findings).toEqual([]);
    const older = { ...log, seals: { ...log.seals, newest: () => log.seals.numbered(1) } };
    expect(codesOf((await walked(older, new Set([newest]))).findings)).toEqual(['seal-key-unknown 0']);
  });

  test('what a file says can neither end the verifier nor reach a terminal as an order', async () => {
    for (const keyId of ['\u001b[2J', { toString: 1 }, null, []]) {
      const hostile = (line: string) =>
        isSealed(line) ? JSON.stringify({ seal: [...JSON.parse(line).seal.slice(0, 8), keyId], signature: {} }) : line;
      const lines = (await exported(log)).toString().trimEnd().split('\n').map(hostile);
      const { findings } = await verifyExport([Buffer.from(lines.join('\n'))], [firstKey]);
      expect(findings.length).toBeGreaterThan(3);
      expect(findings.map(({ reason }) => reason).join('')).not.toContain('\u001b');
    }
  });

  test('of a compressed file that was cut, the verdict on what is left is given', async () => {
    const packed = gzipSync(await exported(log));
    const pieces = Readable.from([packed.subarray(0, packed.length - 20)]).pipe(createGunzip());
    expect(codesOf((await verifyExport(pieces, [firstKey])).findings)).toContain('cut-off null');
  });
});

test('a noted head is not the same where its events, or later ones, are not as they were sealed', async () => {
  const noted = readHead(head) ?? noHead;
  expect((await compareHead(log, noted)).outcome).toBe('same');
  const lines = await log.lines.after(beginning, 100);
  for (const changed of [lines.slice(0, 10), lines.map((line) => line.replace('thing-5', 'thing-9'))]) {
    const { outcome } = await compareHead({ ...log, lines: givenLines(changed) }, noted);
    expect(outcome).toBe('altered');
  }
});

test('a comparison reads the events of so many seals, and says up to which', async () => {
  const noted = readHead(headText((await log.seals.numbered(0)) as Seal)) ?? noHead;
  const newest = await log.seals.newest();
  expect(await compareHead(log, noted, 1)).toMatchObject({ outcome: 'same', checkedTo: 0, newest });
  expect(await compareHead(log, noted)).toMatchObject({ outcome: 'same', checkedTo: newest?.number });
  const lines = await log.lines.after(beginning, 100);
  const changed = givenLines(lines.map((line) => line.replace('thing-0', 'thing-9')));
  expect((await compareHead({ ...log, lines: changed }, noted, 1)).outcome).toBe('altered');
  const without = (gone: number) => async (number: number, limit: number) =>
    (await log.seals.after(number, limit + 1)).filter((seal) => seal.number !== gone).slice(0, limit);
  const numbered = async (number: number) => (number === 1 ? null : log.seals.numbered(number));
  const lacking = { ...log, seals: { ...log.seals, numbered, after: without(1) } };
  expect(await compareHead(lacking, noted, 2)).toMatchObject({ outcome: 'altered', checkedTo: 2 });
});
