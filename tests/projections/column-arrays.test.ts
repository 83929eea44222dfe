import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { arrayOf, type ColumnType, type ColumnValues, numericOf } from '../../src/projections/engine/column-arrays.js';
import { Distribution } from '../../src/projections/models/usage-stats/distribution.js';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres/postgres.js';

/* What is sent as a column of values is what Postgres then has. */

let database: TestDatabase;
beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(() => database.drop());

/** As text, as Postgres itself writes it. */
async function received(column: ColumnValues): Promise<(string | null)[]> {
  const { rows } = await database.pool.query<{ value: string | null }>({
    text: `select value::text from unnest($1::${column.type}[]) with ordinality as all_of(value, place) order by place`,
    values: [arrayOf(column)],
  });
  return rows.map(({ value }) => value);
}

const column = (type: ColumnType, values: readonly unknown[]): ColumnValues =>
  ({ column: 'any', type, values }) as ColumnValues;

const orNull = <Value>(values: fc.Arbitrary<Value>) => fc.array(fc.option(values, { nil: null }), { maxLength: 40 });
const written = (values: readonly unknown[]) => values.map((value) => (value === null ? null : String(value)));
const runs = { numRuns: 60 };

test('a column of integers is read back as written', async () => {
  const largest = Number.MAX_SAFE_INTEGER;
  const edges = [0, 1, -1, 2 ** 31, -(2 ** 31) - 1, 2 ** 32, -(2 ** 32), largest, -largest];
  expect(await received(column('bigint', edges))).toEqual(written(edges));
  const bigints = orNull(fc.integer({ min: -largest, max: largest }));
  await fc.assert(
    fc.asyncProperty(bigints, async (values) => {
      expect(await received(column('bigint', values))).toEqual(written(values));
    }),
    runs,
  );
  await fc.assert(
    fc.asyncProperty(orNull(fc.integer({ min: -32_768, max: 32_767 })), async (values) => {
      expect(await received(column('smallint', values))).toEqual(written(values));
    }),
    runs,
  );
  await fc.assert(
    fc.asyncProperty(orNull(fc.integer()), async (values) => {
      expect(await received(column('integer', values))).toEqual(written(values));
    }),
    runs,
  );
});

test.each(['bigint', 'integer', 'smallint', 'numeric'] as const)('for %s without other values', (type) => {
  for (const value of [1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(() => arrayOf(column(type, [value]))).toThrow(RangeError);
  }
});

test('for numbers of any length', async () => {
  const edges = [
    0n,
    1n,
    -1n,
    9_999n,
    10_000n,
    -10_000n,
    100_000_000n,
    10n ** 12n,
    10n ** 15n,
    2n ** 53n,
    -(10n ** 40n),
  ];
  expect(await received(column('numeric', edges))).toEqual(written(edges));
  const values = fc.array(
    fc.oneof(fc.bigInt(), fc.bigInt({ min: -(10n ** 400n), max: 10n ** 400n }), fc.maxSafeInteger()),
    {
      maxLength: 40,
    },
  );
  await fc.assert(
    fc.asyncProperty(values, async (numbers) => {
      expect(await received(column('numeric', numbers))).toEqual(written(numbers));
      const composed = numbers.map((number) => ({ toNumeric: () => numericOf(BigInt(number)) }));
      expect(await received(column('numeric', composed))).toEqual(written(numbers));
    }),
    runs,
  );
});

test('beyond the size of its buffer', async () => {
  const many = Array.from({ length: 3_000 }, (_, index) => 10n ** BigInt(index % 300));
  expect(await received(column('numeric', many))).toEqual(written(many));
});

test('a column of booleans is read back as written', async () => {
  await fc.assert(
    fc.asyncProperty(orNull(fc.boolean()), async (values) => {
      expect(await received(column('boolean', values))).toEqual(written(values));
    }),
    runs,
  );
});

test('a column of texts is stored with U+FFFD for unstorable characters', async () => {
  const edges = ['', 'NULL', 'a,b', '{}', '"', '\\', ' spaced ', 'a\nb\tc', '模型', null, 'a\0b', '\ud800x', 'y\udc00'];
  const stored = [...edges.slice(0, -3), 'a\ufffdb', '\ufffdx', 'y\ufffd'];
  expect(await received(column('text', edges))).toEqual(stored);
  const texts = orNull(fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')));
  await fc.assert(
    fc.asyncProperty(texts, async (values) => {
      expect(await received(column('text', values))).toEqual(values);
    }),
    runs,
  );
});

test('a column of JSON is stored with null as no value', async () => {
  const values = [{ a: '"\\', b: [1, null] }, [], null, 'text', { broken: 'a\0b' }];
  expect(await received(column('json', values))).toEqual([
    '{"a":"\\"\\\\","b":[1,null]}',
    '[]',
    null,
    '"text"',
    '{"broken":"a\ufffdb"}',
  ]);
});

describe('a column of latencies', () => {
  /** As numbers beside each other: twelve digits a class. */
  const added = (durations: readonly { readonly ms: number; readonly sign: 1 | -1 }[]) => {
    const whole = Distribution.empty();
    for (const { ms, sign } of durations) whole.count(ms, sign);
    return whole;
  };
  const durations = fc.array(
    fc.record({
      ms: fc.integer({ min: 0, max: 20_000_000 }),
      sign: fc.constantFrom(1 as const, 1 as const, -1 as const),
    }),
    { maxLength: 30 },
  );

  test('is summed in a batch as in Postgres', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(durations, { maxLength: 6 }), async (batches) => {
        const together = Distribution.empty();
        for (const batch of batches) together.addAll(added(batch));
        const { rows } = await database.pool.query<{ same: boolean }>({
          text: 'select coalesce((select sum(value) from unnest($1::numeric[]) as value), 0) = ($2::numeric[])[1] as same',
          values: [arrayOf(column('numeric', batches.map(added))), arrayOf(column('numeric', [together]))],
        });
        expect(rows).toEqual([{ same: true }]);
      }),
      runs,
    );
  });

  test('is summed for many of one class', async () => {
    const many = Distribution.empty();
    for (let count = 0; count < 12_345; count++) many.count(1, 1);
    many.count(3, 1);
    const digits = (await received(column('numeric', [many])))[0] ?? '';
    expect(digits.slice(-12)).toBe('000000012345');
    expect(digits.slice(0, -12)).toMatch(/^10*$/);
  });
});
