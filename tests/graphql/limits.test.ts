import { buildSchema, getOperationAST, parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { checkLimits, type MeasuredOperation, measure } from '../../src/graphql/limits.js';

const schema = buildSchema(`
  type Query {
    one: Thing
    plain: [Thing!]!
    page(size: Int! = 10): Page!
    list(first: Int): [Thing!]!
    dear: Int
  }
  interface Named { name: String }
  type Page { items: [Thing!]! total: Int }
  type Thing implements Named { name: String parts: [Thing!]! next: Thing }
`);
const dear = schema.getQueryType()?.getFields().dear;
if (dear) dear.extensions = { complexity: 40 };

function measured(text: string, variables: Record<string, unknown> = {}): MeasuredOperation {
  const document = parse(text);
  expect(validate(schema, document)).toEqual([]);
  const operation = getOperationAST(document);
  if (!operation) throw new Error('one operation is expected');
  return measure(schema, document, operation, variables);
}

describe('the cost of an operation', () => {
  test.each([
    ['a field costs 1', '{ one { name } }', 2],
    ['a field may say what it costs', '{ dear }', 40],
    ['a page multiplies by its size', '{ page(size: 50) { items { name } } }', 1 + 50 * (1 + 1)],
    ['a page without a size has its default', '{ page { items { name } total } }', 1 + 10 * (1 + 1 + 1)],
    ['a list with a size is multiplied once', '{ list(first: 7) { name } }', 1 + 7],
    ['a list without a size is taken to hold 10', '{ plain { name } list { name } }', 1 + 10 + (1 + 10)],
    ['lists inside lists multiply', '{ page(size: 3) { items { parts { name } } } }', 1 + 3 * (1 + (1 + 10 * 1))],
    ['aliases count each', '{ a: dear b: dear c: dear }', 120],
    [
      'fragments count where they are spread',
      '{ one { ...F } page(size: 2) { items { ...F } } } fragment F on Named { name }',
      1 + 1 + (1 + 2 * (1 + 1)),
    ],
    ['inline fragments count', '{ one { ... on Thing { name } ... @include(if: false) { name } } }', 3],
    ['asking for types is free', '{ one { __typename } }', 1],
  ])('%s', (_, text, cost) => {
    expect(measured(text).cost).toBe(cost);
  });
  test('takes sizes from variables, and their defaults when they are not given', () => {
    const text = 'query ($size: Int! = 80) { page(size: $size) { total } }';
    expect(measured(text, { size: 5 }).cost).toBe(1 + 5);
    expect(measured(text).cost).toBe(1 + 80);
  });
  test('is found at once, however often fragments spread each other', () => {
    const fragments = Array.from(
      { length: 200 },
      (_, n) => `fragment F${n} on Thing { a: next { ...F${n + 1} } b: next { ...F${n + 1} } }`,
    );
    const { cost, depth } = measured(`{ one { ...F0 } } ${fragments.join(' ')} fragment F200 on Thing { name }`);
    expect(cost).toBeGreaterThan(1e50);
    expect(depth).toBe(202);
  });
});

describe('the depth of an operation', () => {
  test('is the longest way down, through fragments too', () => {
    expect(measured('{ dear one { name } }').depth).toBe(2);
    expect(measured('{ one { next { ...F } } } fragment F on Thing { next { name } }').depth).toBe(4);
  });
  test('does not count the question about the schema, which is noticed', () => {
    const text = '{ __schema { types { fields { type { name } } } } }';
    expect(measured(text)).toMatchObject({ depth: 0, introspects: true });
    expect(measured('{ ...F } fragment F on Query { __type(name: "Thing") { name } }')).toMatchObject({
      introspects: true,
    });
    expect(measured('{ dear }').introspects).toBe(false);
  });
});

describe('limits', () => {
  const limits = { depth: 3, cost: 100 };

  test('admit what reaches them', () => {
    expect(() => checkLimits({ depth: 3, cost: 100 }, limits)).not.toThrow();
  });
  test('refuse what exceeds them, telling by how much', () => {
    const refusal = (measure: { depth: number; cost: number }) => {
      try {
        checkLimits(measure, limits);
      } catch (error) {
        return error;
      }
      throw new Error('it was admitted');
    };
    expect(refusal({ depth: 4, cost: 1 })).toMatchObject({
      extensions: { code: 'too-deep', details: { depth: 4, allowed: 3 } },
    });
    expect(refusal({ depth: 1, cost: 101 })).toMatchObject({
      extensions: { code: 'too-costly', details: { cost: 101, allowed: 100 } },
    });
  });
});
