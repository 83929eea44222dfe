import { checkText } from '../kernel/bounds.js';
import {
  add,
  type Decimal,
  decimal,
  integer,
  isDecimal,
  isNegative,
  isZero,
  larger,
  quotient,
  times,
  ZERO,
} from '../kernel/decimal.js';
import { type Failure, invalidField } from '../kernel/failure.js';
import { Instant } from '../kernel/instant.js';
import { type Amounts, type Measure, noAmounts } from './amounts.js';
import { type ExportField, type ExportForm, meterOf } from './export-form.js';
import type { ExportRow } from './sides.js';
import { timeWritten } from './written-time.js';

/* Records of a usage export, read as rows by where its columns say what. Whatever is wrong names line and column. */

/** A row of a table: text by column. */
export interface ExportRecord {
  readonly line: number;
  readonly cells: ReadonlyMap<string, string>;
}

/** Columns that somebody has said the meaning of: they take the place of those that are known. */
type ColumnMap = ReadonlyMap<string, ExportField>;

type Columns = ReadonlyMap<ExportField, readonly string[]>;

/** Throws `invalid-field` where the file lacks what rows cannot be compared without. */
export function columnsIn(names: readonly string[], form: ExportForm, map: ColumnMap): Columns {
  const lower = new Map(names.map((name) => [name.trim().toLowerCase(), name]));
  const columns = new Map<ExportField, readonly string[]>();
  for (const [field, alternatives] of Object.entries(form.columns) as [ExportField, readonly (readonly string[])[]][])
    for (const alternative of alternatives) {
      const there = alternative.flatMap((name) => lower.get(name.toLowerCase()) ?? []);
      if (there.length > 0 && !columns.has(field)) columns.set(field, there);
    }
  const mapped = new Map<ExportField, string[]>();
  for (const [name, field] of map) {
    const there = lower.get(name.toLowerCase());
    if (there === undefined) throw invalidField('map', `columns of the file: ${names.slice(0, 40).join(', ')}`);
    mapped.set(field, [...(mapped.get(field) ?? []), there]);
  }
  for (const [field, there] of mapped) columns.set(field, there);
  const isNamed = columns.has('model') || columns.has('meter');
  const isCounted = (['prompt', 'uncached', 'output', 'quantity', 'dollars', 'cents', 'cost'] as const).some((field) =>
    columns.has(field),
  );
  if (!columns.has('time') || !isNamed || !isCounted || (columns.has('meter') && !columns.has('quantity')))
    throw invalidField(
      'map',
      `columns for time, for model or meter, and for tokens or cost; the file has ${names.slice(0, 40).join(', ')}`,
    );
  return columns;
}

/** What the columns tell anything about. */
export function toldBy(columns: Columns, isSingle: boolean): ReadonlySet<Measure> {
  const has = (...fields: ExportField[]) => fields.some((field) => columns.has(field));
  const told = new Set<Measure>();
  if (isSingle || has('calls')) told.add('calls');
  if (has('prompt', 'uncached', 'meter')) told.add('prompt');
  if (has('cached', 'meter')) told.add('cached');
  if (has('output', 'meter')) told.add('output');
  if (has('dollars', 'cents', 'cost')) told.add('cost');
  return told;
}

const maxCount = decimal('1e15');
const maxCost = decimal('1e12');
const maxDigits = 40;
/** What a float leaves behind is not told apart. */
const maxCostScale = 10;

interface RowRules {
  readonly columns: Columns;
  readonly form: ExportForm;
  /** How much of the currency of the export a dollar is; null: it says so itself, or costs are in dollars. */
  readonly rate: Decimal | null;
  readonly isSingle: boolean;
}

export class ExportRowReader {
  /** Digits behind the point of the finest cost so far. */
  costScale = 0;

  constructor(private readonly rules: RowRules) {}

  /** null: it is of something that has no tokens. Throws `invalid-field`. */
  read(record: ExportRecord): ExportRow | null {
    const { columns, form } = this.rules;
    const meterText = this.text(record, 'meter');
    const meter = meterText === '' ? null : meterOf(meterText);
    if (columns.has('meter') && meter === null) return null;
    const named = this.text(record, 'model');
    const model = named === '' ? (meter?.model ?? '') : (form.modelIn?.(named) ?? named);
    if (model === '') throw this.wrong(record, 'model', 'the name of a model');
    checkText(place(record, columns.get('model')?.[0] ?? 'model'), model, { max: 256 });
    const from = this.time(record, 'time');
    const to = columns.has('end') ? this.time(record, 'end') : from;
    if (to < from) throw this.wrong(record, 'end', 'a time that is not before its beginning');
    const requestId = this.text(record, 'request-id');
    return {
      ...{ line: record.line, from, to, model, requestId: requestId === '' ? null : requestId },
      amounts: this.amounts(record, meter?.kind ?? null),
    };
  }

  private amounts(record: ExportRecord, kind: 'uncached' | 'cached' | 'output' | null): Amounts {
    const { columns, isSingle } = this.rules;
    const cost = this.cost(record);
    if (kind !== null) {
      const quantity = times(this.count(record, 'quantity'), this.unit(record));
      if (kind === 'output') return { ...noAmounts, output: quantity, cost };
      return { ...noAmounts, prompt: quantity, cached: kind === 'cached' ? quantity : ZERO, cost };
    }
    const cached = this.count(record, 'cached');
    const parts = [this.count(record, 'uncached'), cached, this.count(record, 'cache-write')];
    const prompt = columns.has('prompt')
      ? this.count(record, 'prompt')
      : columns.has('uncached')
        ? parts.reduce(add, ZERO)
        : ZERO;
    const calls = isSingle ? integer(1) : this.count(record, 'calls');
    return { calls, prompt, cached, output: this.count(record, 'output'), cost };
  }

  /** In US dollars. */
  private cost(record: ExportRecord): Decimal {
    const { columns } = this.rules;
    if (columns.has('dollars')) return this.money(record, 'dollars');
    if (columns.has('cents')) return times(this.money(record, 'cents', 2), decimal('0.01'));
    const cost = this.money(record, 'cost');
    if (isZero(cost)) return cost;
    const rate = this.rateOf(record);
    return rate === null ? cost : quotient(cost, rate, 18);
  }

  /** How much a dollar is of the currency that a row is in; null: it is in dollars. */
  private rateOf(record: ExportRecord): Decimal | null {
    if (this.rules.rate !== null) return this.rules.rate;
    const currency = this.text(record, 'currency').toUpperCase();
    if (currency === '' || currency === 'USD') return null;
    const given = this.number(record, 'rate', ZERO);
    if (isZero(given) || isNegative(given)) throw this.wrong(record, 'currency', 'USD, or give --rate');
    return given;
  }

  private money(record: ExportRecord, field: ExportField, shift = 0): Decimal {
    const value = this.number(record, field, ZERO);
    const size = isNegative(value) ? times(value, integer(-1)) : value;
    if (larger(size, maxCost) !== maxCost) throw this.wrong(record, field, 'an amount of at most 1e12');
    // Zeros at the end say how exact it is; noise of a float does not.
    this.costScale = Math.max(this.costScale, Math.min(value.scale + shift, maxCostScale));
    return value;
  }

  private count(record: ExportRecord, field: ExportField): Decimal {
    const value = this.number(record, field, ZERO);
    if (isNegative(value) || larger(value, maxCount) !== maxCount)
      throw this.wrong(record, field, 'a number from 0 to 1e15');
    return value;
  }

  /** `1K` → 1000. */
  private unit(record: ExportRecord): Decimal {
    const text = this.text(record, 'unit');
    if (text === '') return integer(1);
    const [, number = '1', scale = ''] = /^(\d{1,9})?\s*([KM])?(?:\b|$)/i.exec(text) ?? [];
    const factor = { '': 1, k: 1_000, m: 1_000_000 }[scale.toLowerCase()] ?? 1;
    return integer(Number(number) * factor);
  }

  /** The sum of the columns of a field. */
  private number(record: ExportRecord, field: ExportField, without: Decimal): Decimal {
    let sum = without;
    for (const column of this.rules.columns.get(field) ?? []) {
      const text = (record.cells.get(column) ?? '').trim();
      if (text === '') continue;
      if (text.length > maxDigits || !isDecimal(text)) throw invalidField(place(record, column), 'a decimal number');
      sum = add(sum, decimal(text));
    }
    return sum;
  }

  private text(record: ExportRecord, field: ExportField): string {
    for (const column of this.rules.columns.get(field) ?? []) {
      const text = (record.cells.get(column) ?? '').trim();
      if (text === '') continue;
      if (text.length > 256) throw invalidField(place(record, column), 'at most 256 characters');
      return text;
    }
    return '';
  }

  private time(record: ExportRecord, field: ExportField): Instant {
    const at = timeWritten(this.text(record, field));
    if (at === null) throw this.wrong(record, field, 'a time: a date, a date and time, or unix seconds');
    return Instant(at);
  }

  private wrong(record: ExportRecord, field: ExportField, allowed: string): Failure {
    return invalidField(place(record, this.rules.columns.get(field)?.[0] ?? field), allowed);
  }
}

const place = ({ line }: ExportRecord, column: string): string => `line ${line}, column ${column}`;
