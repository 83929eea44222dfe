import { createReadStream } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { CsvError, parse } from 'csv-parse';
import { boundedJson } from '../../domain/kernel/bounds.js';
import type { ExportRecord } from '../../domain/reconciliation/export-rows.js';
import { UsageError } from '../command.js';

/* A provider's usage export as records: CSV with a header, JSON, or a JSON object in each line. */

/** JSON is read as a whole. */
const maxJsonBytes = 64 * 1024 * 1024;
const maxRecordBytes = 1024 * 1024;
const maxColumns = 500;
const maxDepth = 6;

interface ExportTable {
  readonly names: readonly string[];
  readonly records: AsyncIterable<ExportRecord> | Iterable<ExportRecord>;
}

/** Throws UsageError, also while records are read. */
export async function exportTable(path: string): Promise<ExportTable> {
  const first = await firstCharacter(path);
  if (first === '{' || first === '[') {
    const records = await jsonRecords(path);
    return { names: [...new Set(records.flatMap(({ cells }) => [...cells.keys()]))], records };
  }
  const records = csvRecords(path);
  const header = await records.next();
  if (header.done === true) throw new UsageError(`--file ${path}: there is no row in it.`);
  const names = header.value.cells;
  const named = (async function* () {
    for await (const { line, cells } of records)
      yield { line, cells: new Map(names.map((name, index) => [name, cells[index] ?? ''])) };
  })();
  return { names, records: named };
}

const unreadable = (path: string): UsageError => new UsageError(`--file ${path}: this file cannot be read.`);

async function firstCharacter(path: string): Promise<string> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0);
      return buffer
        .toString('utf8', 0, bytesRead)
        .replace(/^\uFEFF/, '')
        .trimStart()
        .charAt(0);
    } finally {
      await file.close();
    }
  } catch {
    throw unreadable(path);
  }
}

async function* csvRecords(path: string): AsyncGenerator<{ line: number; cells: readonly string[] }, void, undefined> {
  const parser = parse({ bom: true, info: true, max_record_size: maxRecordBytes, skip_empty_lines: true });
  const reading = pipeline(createReadStream(path), parser);
  reading.catch(() => {});
  try {
    for await (const item of parser) {
      const { record, info } = item as {
        readonly record: readonly string[];
        readonly info: { readonly lines: number };
      };
      if (record.length > maxColumns)
        throw new UsageError(`--file ${path}, line ${info.lines}: at most ${maxColumns} columns.`);
      yield { line: info.lines, cells: record };
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (error instanceof CsvError) throw new UsageError(`--file ${path}: ${error.message}.`);
    throw unreadable(path);
  }
}

async function jsonRecords(path: string): Promise<readonly ExportRecord[]> {
  if ((await stat(path)).size > maxJsonBytes)
    throw new UsageError(`--file ${path}: JSON of at most ${maxJsonBytes} bytes is read; give CSV.`);
  const text = (await readFile(path, 'utf8')).replace(/^\uFEFF/, '');
  const whole = boundedJson(text);
  const values = whole === undefined ? valuesOfLines(path, text) : rowsWithin(whole);
  return values.map((value, index) => {
    const cells = new Map<string, string>();
    flatten(value, '', cells, 0);
    if (cells.size > maxColumns)
      throw new UsageError(`--file ${path}, row ${index + 1}: at most ${maxColumns} members.`);
    return { line: index + 1, cells };
  });
}

function valuesOfLines(path: string, text: string): readonly unknown[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const value = boundedJson(line);
    if (value === undefined) throw new UsageError(`--file ${path}, line ${index + 1}: this is no JSON.`);
    return rowsWithin(value);
  });
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Rows of pages (`data`) and of windows (`results`), each with what is said of its window. */
function rowsWithin(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap(rowsWithin);
  if (!isObject(value)) return [];
  if (Array.isArray(value.data)) return value.data.flatMap(rowsWithin);
  const { results, ...window } = value;
  if (!Array.isArray(results)) return [value];
  return results.map((row: unknown) => (isObject(row) ? { ...window, ...row } : window));
}

/** `{"amount":{"value":1}}` → `amount.value`. Lists are no cells. */
function flatten(value: unknown, name: string, cells: Map<string, string>, depth: number): void {
  if (isObject(value)) {
    if (depth >= maxDepth) return;
    for (const [member, inner] of Object.entries(value))
      flatten(inner, name === '' ? member : `${name}.${member}`, cells, depth + 1);
  } else if (typeof value === 'string' || typeof value === 'number') cells.set(name, String(value));
}
