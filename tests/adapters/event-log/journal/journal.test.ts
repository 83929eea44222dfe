import { mkdtemp, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createFile, type Journal, openJournal } from '../../../../src/adapters/event-log/journal/journal.js';
import { logOf, readRecords } from '../../../../src/adapters/event-log/journal/record.js';
import { replacedJournal } from '../../../../src/adapters/event-log/journal/replaced-journal.js';
import { quietLog } from '../../../support/quiet-log.js';

const fileBytes = 4096;
let directory: string;
let journals: string;
let journal: Journal;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tallygate-journal-'));
  journals = join(directory, 'journal');
  journal = await openJournal({ directory: journals, log: '7264', fileBytes });
});
afterEach(async () => {
  await journal.close({ keep: true });
  await rm(directory, { recursive: true, force: true });
});

async function onDisk(): Promise<(readonly [number, string])[]> {
  const [folder = ''] = await readdir(journals);
  const files = await Promise.all(['a', 'b'].map((name) => readFile(join(journals, folder, name))));
  expect(files.map(logOf)).toEqual(['7264', '7264']);
  return readRecords(files).map(({ number, text }) => [number, text]);
}

describe('a journal', () => {
  test('has on the disk what it has acknowledged', async () => {
    expect(await journal.write('first')).toEqual({ kind: 'written', number: 0 });
    expect(await journal.write('zweitens')).toEqual({ kind: 'written', number: 1 });
    expect(await onDisk()).toEqual([
      [0, 'first'],
      [1, 'zweitens'],
    ]);
  });
  test.each([0, 8])(
    'has files with all bytes written, also over several blocks, after a head of %i',
    async (length) => {
      const [path, bytes] = [join(directory, 'large'), 600_001];
      await (await createFile(path, Buffer.alloc(length, 'h'), bytes)).close();
      const content = await readFile(path);
      expect(content.equals(Buffer.concat([Buffer.alloc(length, 'h'), Buffer.alloc(bytes - length)]))).toBe(true);
      // No hole that a later write would have to find room for.
      expect((await stat(path)).blocks * 512).toBeGreaterThanOrEqual(bytes);
    },
  );
  test('is readable by its owner only, and has its full length from the beginning', async () => {
    const [folder = ''] = await readdir(journals);
    expect((await stat(join(journals, folder))).mode & 0o777).toBe(0o700);
    for (const name of ['a', 'b']) {
      const { mode, size } = await stat(join(journals, folder, name));
      expect([mode & 0o777, size]).toEqual([0o600, fileBytes]);
    }
  });
  test('continues in the other file, and in the first again once that is released', async () => {
    const text = 'x'.repeat(1_500);
    for (let number = 0; number < 4; number++) expect(await journal.write(text)).toEqual({ kind: 'written', number });
    expect(await journal.write(text)).toEqual({ kind: 'full' });
    journal.forget(0);
    expect(await journal.write(text)).toEqual({ kind: 'full' });
    journal.forget(1);
    expect(await journal.write(text)).toEqual({ kind: 'written', number: 4 });
    expect((await onDisk()).map(([number]) => number)).toEqual([2, 3, 4]);
  });
  test('accepts shorter texts while it has no space for a long one, and refuses texts larger than a file', async () => {
    journal.forget(Number.MAX_SAFE_INTEGER);
    expect(await journal.write('x'.repeat(fileBytes))).toEqual({ kind: 'full' });
    expect(await journal.write('short')).toMatchObject({ kind: 'written' });
  });
  test('reports when another process has taken it over, and is not written to again', async () => {
    await journal.write('mine');
    const [folder = ''] = await readdir(journals);
    await rename(join(journals, folder), join(journals, 'left'));
    expect(await journal.write('nobody’s')).toEqual({ kind: 'taken' });
    expect(await journal.write('nor this')).toEqual({ kind: 'failed' });
  });
  test('has failed, and was not taken over, where its folder is not accessible', async () => {
    await journal.write('mine');
    const [folder = ''] = await readdir(journals);
    await rename(join(journals, folder), join(journals, 'elsewhere'));
    await symlink(folder, join(journals, folder));
    expect(await journal.write('who knows')).toEqual({ kind: 'failed' });
  });
  test('rejects all pending writes when its thread has ended', async () => {
    await journal.close({ keep: true });
    expect(await journal.write('too late')).toEqual({ kind: 'failed' });
  });
  test('has ended when nothing is being written, and takes no more', async () => {
    const writing = journal.write('first');
    await journal.end();
    expect(await journal.write('second')).toEqual({ kind: 'failed' });
    expect((await onDisk()).length).toBe((await writing).kind === 'written' ? 1 : 0);
  });
  test('that has failed gives way to a new one, and what it held is gone', async () => {
    await journal.write('in doubt');
    const next = await replacedJournal({
      ...{ failed: journal, isNeeded: () => false, log: quietLog, signal: new AbortController().signal, pauseMs: 1 },
      open: () => openJournal({ directory: journals, log: '7264', fileBytes }),
    });
    expect(await next?.write('first')).toEqual({ kind: 'written', number: 0 });
    expect(await onDisk()).toEqual([[0, 'first']]);
    await next?.close({ keep: false });
    expect(await readdir(journals)).toEqual([]);
  });
  test('removes its files when nothing in it is needed', async () => {
    await journal.write('in the log by now');
    await journal.close({ keep: false });
    expect(await readdir(journals)).toEqual([]);
  });
  test('is kept while it is needed', async () => {
    await journal.write('not in the log');
    await journal.close({ keep: true });
    expect(await onDisk()).toEqual([[0, 'not in the log']]);
  });
  test('of another process is never removed, not even one that replaced it', async () => {
    const [folder = ''] = await readdir(journals);
    await rename(join(journals, folder), join(journals, 'left'));
    const next = await openJournal({ directory: journals, log: '7264', fileBytes });
    await next.write('of the next');
    await journal.close({ keep: false });
    expect((await readdir(journals)).length).toBe(2);
    await next.close({ keep: true });
  });
});
