import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { add, decimal, decimalText, integer, isSame, isZero, times, ZERO } from '../../../src/domain/kernel/decimal.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import {
  type Amounts,
  byMeasure,
  comparedMeasures,
  isNothing,
  lessBy,
  type Measure,
  noAmounts,
  together,
} from '../../../src/domain/reconciliation/amounts.js';
import {
  isReconciled,
  Reconciliation,
  type ReconciliationRules,
} from '../../../src/domain/reconciliation/reconcile.js';
import type { Difference, ExportRow, OwnCall, OwnDoubt } from '../../../src/domain/reconciliation/sides.js';

const hour = 3_600_000;
const midnight = Date.UTC(2026, 10, 1);
const rates = { prompt: decimal('0.0000025'), cached: decimal('0.00000125'), output: decimal('0.00001') };

const amountsOf = (prompt: number, cached: number, output: number): Amounts => ({
  ...{ calls: integer(1), prompt: integer(prompt), cached: integer(cached), output: integer(output) },
  cost: [
    times(integer(prompt - cached), rates.prompt),
    times(integer(cached), rates.cached),
    times(integer(output), rates.output),
  ].reduce(add, ZERO),
});

interface Call {
  readonly at: number;
  readonly prompt: number;
  readonly cached?: number;
  readonly output: number;
  readonly model?: string;
  readonly ms?: number;
}

const ownCall = (call: Call, index: number): OwnCall => ({
  requestId: `call-${index}`,
  answerId: `gen-${index}`,
  begun: Instant(midnight + call.at - (call.ms ?? 1_000)),
  ended: Instant(midnight + call.at),
  model: call.model ?? 'gpt-4o',
  amounts: amountsOf(call.prompt, call.cached ?? 0, call.output),
  ...{ hasCost: true, rates },
});

const all: ReadonlySet<Measure> = new Set(comparedMeasures);
const byHour: ReconciliationRules = {
  ...{ widthMs: hour, skewMs: 60_000, told: all, perRow: decimal('0.000001') },
  ...{ modelNames: new Map(), from: null, to: null },
};
const byCall: ReconciliationRules = { ...byHour, widthMs: null };

/** What a provider would list of these calls, one row for each model and hour. */
function rowsByHour(calls: readonly OwnCall[]): ExportRow[] {
  const rows = new Map<string, ExportRow>();
  for (const { ended, model, amounts } of calls) {
    const from = Math.floor(ended / hour) * hour;
    const key = `${model} ${from}`;
    const known = rows.get(key);
    rows.set(key, {
      ...{ line: known?.line ?? rows.size + 2, model: `${model}-2024-08-06`, requestId: null },
      ...{ from: Instant(from), to: Instant(from + hour) },
      amounts: together(known?.amounts ?? noAmounts, amounts),
    });
  }
  return [...rows.values()];
}

const rowOf = (call: OwnCall, index: number, requestId: string | null = null): ExportRow => ({
  ...{ line: index + 2, from: call.begun, to: call.begun, model: call.model, requestId },
  amounts: call.amounts,
});

function reconciled(
  rules: ReconciliationRules,
  rows: readonly ExportRow[],
  calls: readonly OwnCall[],
  doubts: readonly OwnDoubt[] = [],
) {
  const reconciliation = new Reconciliation(rules);
  for (const row of rows) reconciliation.takeRow(row);
  for (const call of calls) reconciliation.takeCall(call);
  for (const doubt of doubts) reconciliation.takeDoubt(doubt);
  return reconciliation.result();
}

const told = ({ class: name, amounts, requestIds }: Difference) => ({
  class: name,
  ...Object.fromEntries(
    comparedMeasures.flatMap((measure) =>
      amounts[measure].digits === 0n ? [] : [[measure, decimalText(amounts[measure])]],
    ),
  ),
  ...(requestIds.length > 0 && { requestIds }),
});

const withAmounts = (row: ExportRow, change: Partial<Amounts>): ExportRow => ({
  ...row,
  amounts: { ...row.amounts, ...change },
});

const day: readonly OwnCall[] = [
  { at: 10 * 60_000, prompt: 100, output: 20 },
  { at: 20 * 60_000, prompt: 2_000, cached: 1_024, output: 300 },
  { at: hour + 5 * 60_000, prompt: 50, output: 7 },
  { at: 2 * hour + 60 * 1_000, prompt: 900, output: 11 },
  { at: 3 * hour + 5 * 60_000, prompt: 31, output: 3, model: 'gpt-4o-mini' },
].map(ownCall);
const at = (index: number): OwnCall => day[index] as OwnCall;

describe('rows of many calls', () => {
  test('which say what the log says have no differences, under whatever version of the model', () => {
    expect(reconciled(byHour, rowsByHour(day), day)).toMatchObject({ found: 0, calls: 5, rows: 4 });
  });

  test.each([
    {
      _name: 'a call that is not listed is missing there, and named',
      rows: rowsByHour(day.filter((call) => call !== at(1))),
      differences: [
        {
          ...{
            class: 'missing-there',
            calls: '-1',
            prompt: '-2000',
            cached: '-1024',
            output: '-300',
            cost: '-0.00672',
          },
          requestIds: ['call-1'],
        },
      ],
    },
    {
      _name: 'an hour that is not listed is missing there',
      rows: rowsByHour(day.filter((call) => call !== at(2))),
      differences: [
        { class: 'missing-there', calls: '-1', prompt: '-50', output: '-7', cost: '-0.000195', requestIds: ['call-2'] },
      ],
    },
    {
      _name: 'a call that the log does not have is missing here',
      rows: rowsByHour([...day, ownCall({ at: hour + 60_000 * 9, prompt: 10, output: 1 }, 9)]),
      differences: [{ class: 'missing-here', calls: '1', prompt: '10', output: '1', cost: '0.000035' }],
    },
    {
      _name: 'other tokens of as many calls are told with what they cost',
      rows: rowsByHour(day).map((row, index) =>
        index === 1 ? withAmounts(row, { output: integer(17), cost: decimal('0.000295') }) : row,
      ),
      differences: [{ class: 'tokens', output: '10', cost: '0.0001' }],
    },
    {
      _name: 'another price of the same tokens is a matter of price',
      rows: rowsByHour(day).map((row, index) => (index === 1 ? withAmounts(row, { cost: decimal('0.0003') }) : row)),
      differences: [{ class: 'price', cost: '0.000105' }],
    },
    {
      _name: 'a cost that is off by a unit of its last digit is rounding',
      rows: rowsByHour(day).map((row, index) => (index === 1 ? withAmounts(row, { cost: decimal('0.000196') }) : row)),
      differences: [{ class: 'rounding', cost: '0.000001' }],
    },
    {
      _name: 'other tokens at another price are told apart',
      rows: rowsByHour(day).map((row, index) =>
        index === 1 ? withAmounts(row, { output: integer(17), cost: decimal('0.0005') }) : row,
      ),
      differences: [
        { class: 'tokens', output: '10', cost: '0.0001' },
        { class: 'price', cost: '0.000205' },
      ],
    },
  ])('$_name', ({ rows, differences }) => {
    const result = reconciled(byHour, rows, day);
    expect(result.differences.map(told)).toEqual(differences);
    // Nobody has to look after what rounding leaves.
    expect(isReconciled(result)).toBe(differences.every((difference) => difference.class === 'rounding'));
  });

  test('a call whose outcome is not known here explains what is listed beyond the others, within what it could use', () => {
    const lost = ownCall({ at: hour + 60_000 * 9, prompt: 10, output: 1 }, 9);
    const most = { calls: integer(1), prompt: integer(12), output: integer(100) };
    const doubt: OwnDoubt = { requestId: 'lost', begun: lost.begun, ended: lost.ended, model: 'gpt-4o', most };
    const rows = rowsByHour([...day, lost]);
    expect(reconciled(byHour, rows, day, [doubt]).differences.map(told)).toEqual([
      { class: 'unknown-outcome', calls: '1', prompt: '10', output: '1', cost: '0.000035', requestIds: ['lost'] },
    ]);
    const less = { ...doubt, most: { ...most, prompt: integer(4) } };
    expect(reconciled(byHour, rows, day, [less]).differences.map(told)).toEqual([
      { class: 'unknown-outcome', calls: '1', prompt: '4', output: '1', requestIds: ['lost'] },
      { class: 'tokens', prompt: '6', cost: '0.000015' },
      { class: 'price', cost: '0.00002' },
    ]);
  });

  test('a call that ran over the end of an hour is looked for in both', () => {
    const over = ownCall({ at: hour + 2_000, prompt: 77, output: 7, ms: 8_000 }, 7);
    const early = { ...over, ended: Instant(midnight + hour - 1) };
    expect(reconciled(byHour, rowsByHour([...day, early]), [...day, over]).found).toBe(0);
    expect(reconciled(byHour, rowsByHour([...day, over]), [...day, early]).found).toBe(0);
  });

  test('a call over the edge of what the export covers is no difference', () => {
    const before = ownCall({ at: -500, prompt: 77, output: 7 }, 7);
    const rows = rowsByHour(day);
    expect(reconciled(byHour, rows, [...day, before]).found).toBe(0);
    const counted = rows.map((row, index) =>
      index === 0 ? { ...row, amounts: together(row.amounts, before.amounts) } : row,
    );
    expect(reconciled(byHour, counted, [...day, before]).found).toBe(0);
  });

  test('the number of compared calls is shown for exports without such a column', () => {
    const told = new Set<Measure>(['prompt']);
    expect(reconciled({ ...byHour, told }, rowsByHour(day), day)).toMatchObject({ found: 0, calls: 5 });
  });

  test('what the provider charges for calls of unknown cost is in no total', () => {
    const calls = day.map((call) =>
      call === at(2) ? { ...call, hasCost: false, amounts: { ...call.amounts, cost: ZERO } } : call,
    );
    const result = reconciled(byHour, rowsByHour(day), calls);
    expect(result).toMatchObject({ found: 0 });
    expect(decimalText(result.costNotCompared)).toBe('0.000195');
  });
});

describe('rows of single calls', () => {
  test('in excess are explained by calls of unknown outcome, one row by each', () => {
    const lost = [7, 8].map((index) => ownCall({ at: hour + index * 60_000, prompt: 10, output: 1 }, index));
    const most = { calls: integer(1), prompt: integer(12), output: integer(100) };
    const [first] = lost.map(
      ({ requestId, begun, ended, model }): OwnDoubt => ({ requestId, begun, ended, model, most }),
    );
    const rows = [...day, ...lost].map((call, index) => rowOf(call, index));
    expect(reconciled(byCall, rows, day, first === undefined ? [] : [first]).differences.map(told)).toEqual([
      { class: 'unknown-outcome', calls: '1', prompt: '10', output: '1', cost: '0.000035', requestIds: ['call-7'] },
      { class: 'missing-here', calls: '1', prompt: '10', output: '1', cost: '0.000035' },
    ]);
  });

  test('are paired by request id, and without one by time, model and tokens', () => {
    expect(
      reconciled(
        byCall,
        day.map((call, index) => rowOf(call, index, call.requestId)),
        day,
      ).found,
    ).toBe(0);
    expect(
      reconciled(
        byCall,
        day.map((call, index) => rowOf(call, index)),
        day,
      ).found,
    ).toBe(0);
  });

  test('are paired by the id of the answer before that of the request, and by none that several answers have', () => {
    const alike = { at: hour, prompt: 10, output: 1 };
    const [first, second, third] = [0, 1, 2].map((index) => ownCall({ ...alike, at: hour + index }, index));
    if (!first || !second || !third) throw new Error('There are three');
    const costs = (row: ExportRow, dollars: string) => withAmounts(row, { cost: decimal(dollars) });
    const found = (calls: readonly OwnCall[], ...ids: readonly (string | null)[]) =>
      reconciled(
        byCall,
        calls.map((call, index) => costs(rowOf(call, index, ids[index]), `0.0${index + 1}`)),
        calls,
      ).differences.map(({ line, requestIds }) => [line, ...requestIds]);
    // Crosswise: by time and tokens the first row would be the first call's.
    expect(found([first, second], 'gen-1', 'gen-0')).toEqual([
      [2, 'call-1'],
      [3, 'call-0'],
    ]);
    expect(found([first, { ...second, answerId: 'call-0' }], 'call-0', 'call-1')).toEqual([
      [2, 'call-1'],
      [3, 'call-0'],
    ]);
    expect(found([first, { ...second, answerId: 'gen-0' }, third], 'gen-0', 'call-1', 'gen-2')).toEqual([
      [3, 'call-1'],
      [4, 'call-2'],
      [2, 'call-0'],
    ]);
    expect(found([{ ...first, answerId: null }, second], 'call-0', 'gen-1')).toEqual([
      [2, 'call-0'],
      [3, 'call-1'],
    ]);
  });

  test('with seeded faults are classed, each once', () => {
    const rows = [
      rowOf(at(0), 0, 'call-0'),
      withAmounts(rowOf(at(1), 1), { output: integer(310), cost: decimal('0.00682') }),
      withAmounts(rowOf(at(3), 3, 'call-3'), { cost: decimal('0.005') }),
      withAmounts(rowOf(at(4), 4), { cost: add(at(4).amounts.cost, decimal('0.0000005')) }),
      rowOf(ownCall({ at: 2 * hour + 1_000, prompt: 5, output: 5_000 }, 9), 9),
    ];
    const { differences } = reconciled(
      { ...byCall, from: Instant(midnight), to: Instant(midnight + 24 * hour) },
      rows,
      day,
    );
    expect(differences.map(told).sort((a, b) => a.class.localeCompare(b.class))).toEqual([
      { class: 'missing-here', calls: '1', prompt: '5', output: '5000', cost: '0.0500125' },
      { class: 'missing-there', calls: '-1', prompt: '-50', output: '-7', cost: '-0.000195', requestIds: ['call-2'] },
      { class: 'price', cost: '0.00264', requestIds: ['call-3'] },
      { class: 'rounding', cost: '0.0000005', requestIds: ['call-4'] },
      { class: 'tokens', output: '10', cost: '0.0001', requestIds: ['call-1'] },
    ]);
  });
});

const calls = fc
  .array(
    fc.record({
      at: fc.integer({ min: 0, max: 6 * hour }),
      prompt: fc.integer({ min: 1, max: 5_000 }),
      output: fc.integer({ min: 0, max: 900 }),
      ms: fc.integer({ min: 0, max: 120_000 }),
      model: fc.constantFrom('gpt-4o', 'o3'),
    }),
    { maxLength: 25 },
  )
  .map((list) => list.map(ownCall));

describe('whatever both sides say', () => {
  test('ours and the differences are theirs, in every measure and class', () => {
    fc.assert(
      fc.property(
        ...([calls, calls, fc.boolean(), fc.subarray([...comparedMeasures], { minLength: 1 })] as const),
        (ours, others, isSingle, toldMeasures) => {
          const listed = [...ours.filter((_, index) => index % 3 !== 0), ...others];
          const rules = { ...(isSingle ? byCall : byHour), told: new Set<Measure>(toldMeasures) };
          const rows = isSingle ? listed.map((call, index) => rowOf(call, index)) : rowsByHour(listed);
          const { total, differences, byClass } = reconciled(rules, rows, ours);
          const sum = differences.reduce((sum, { amounts }) => together(sum, amounts), noAmounts);
          expect(isNothing(lessBy(lessBy(total.theirs, total.ours), sum))).toBe(true);
          // What an export does not tell differs in no part of it either.
          if (!rules.told.has('cost')) expect(differences.filter(({ amounts }) => !isZero(amounts.cost))).toEqual([]);
          const classes = Object.values(byClass).reduce((sum, { amounts }) => together(sum, amounts), noAmounts);
          expect(byMeasure((measure) => isSame(sum[measure], classes[measure]))).toEqual(byMeasure(() => true));
        },
      ),
      { numRuns: 60 },
    );
  });

  test('an export of the same calls has no differences', () => {
    fc.assert(
      fc.property(calls, fc.boolean(), (ours, isSingle) => {
        const rows = isSingle ? ours.map((call, index) => rowOf(call, index)) : rowsByHour(ours);
        expect(reconciled(isSingle ? byCall : byHour, rows, ours).differences).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});
