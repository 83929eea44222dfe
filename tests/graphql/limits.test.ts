import { buildSchema, type GraphQLObjectType, getOperationAST, parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { checkLimits, type MeasuredOperation, measureOperation } from '../../src/graphql/server/limits.js';

const schema = buildSchema(`
  type Query {
    one: Thing
    plain: [Thing!]!
    page(size: Int! = 10): Page!
    list(first: Int): [Thing!]!
    total: Int
    dearest: Int
  }
  interface Named { name: String }
  type Page { items: [Thing!]! total: Int }
  type Thing implements Named { name: String dear: Int parts: [Thing!]! next: Thing }
`);
const { Query, Thing } = schema.getTypeMap() as Record<string, GraphQLObjectType>;
Object.assign(Thing?.getFields().dear ?? {}, { extensions: { complexity: 40 } });
Object.assign(Query?.getFields().dearest ?? {}, { extensions: { complexity: 400 } });
/** What a field at the root costs at least: it asks the database. */
const query = 50;

function measured(text: string, variables: Record<string, unknown> = {}): MeasuredOperation {
  const document = parse(text);
  expect(validate(schema, document)).toEqual([]);
  const operation = getOperationAST(document);
  if (!operation) throw new Error('one operation is expected');
  return measureOperation(schema, document, operation, variables);
}

describe('the cost of an operation', () => {
  test.each([
    ['a field costs 1, and 50 more at the root', '{ one { name next { name } } }', query + 3],
    ['a field may declare its cost', '{ one { dear } }', query + 40],
    ['a root field costs what it declares where that is more', '{ dearest }', 400],
    ['a page multiplies by its size', '{ page(size: 50) { items { name } } }', query + 50 * (1 + 1)],
    ['a page without a size has its default', '{ page { items { name } total } }', query + 10 * (1 + 1 + 1)],
    ['a list with a size is multiplied once', '{ list(first: 7) { name } }', query + 7],
    ['a list without a size counts as 10', '{ plain { name } list { name } }', query + 10 + (query + 10)],
    ['lists inside lists multiply', '{ page(size: 3) { items { parts { name } } } }', query + 3 * (1 + (1 + 10 * 1))],
    ['aliases count each', '{ a: total b: total c: total }', 3 * query],
    [
      'fragments count where they are spread',
      '{ one { ...F } page(size: 2) { items { ...F } } } fragment F on Named { name }',
      query + 1 + (query + 2 * (1 + 1)),
    ],
    ['inline fragments count', '{ one { ... on Thing { name } ... @include(if: false) { name } } }', query + 2],
    ['type names are free', '{ one { __typename } }', query],
  ])('%s', (_, text, cost) => {
    expect(measured(text).cost).toBe(cost);
  });
  test('reads sizes from variables, and their defaults when they are absent', () => {
    const text = 'query ($size: Int! = 80) { page(size: $size) { total } }';
    expect(measured(text, { size: 5 }).cost).toBe(query + 5);
    expect(measured(text).cost).toBe(query + 80);
  });
  test('is computed in linear time, however often fragments spread each other', () => {
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
  test('is the longest path, through fragments too', () => {
    expect(measured('{ total one { name } }').depth).toBe(2);
    expect(measured('{ one { next { ...F } } } fragment F on Thing { next { name } }').depth).toBe(4);
  });
  test('excludes introspection, which is detected', () => {
    const text = '{ __schema { types { fields { type { name } } } } }';
    expect(measured(text)).toMatchObject({ depth: 0, introspects: true });
    expect(measured('{ ...F } fragment F on Query { __type(name: "Thing") { name } }')).toMatchObject({
      introspects: true,
    });
    expect(measured('{ total }').introspects).toBe(false);
  });
});

describe('the number of root fields of an operation', () => {
  test.each([
    ['are counted by alias', '{ a: total b: total total }', 3],
    [
      'includes fragments, as often as they are spread',
      '{ ...F ...F ... { total } } fragment F on Query { a: total b: total }',
      5,
    ],
    ['excludes nested fields', '{ one { name next { name } } }', 1],
  ])('%s', (_, text, atRoot) => {
    expect(measured(text).atRoot).toBe(atRoot);
  });
});

describe('the limits of an operation', () => {
  const limits = { depth: 3, cost: 100 };

  test('admit an operation that reaches them', () => {
    expect(() => checkLimits({ depth: 3, cost: 100, atRoot: 10 }, limits)).not.toThrow();
  });
  test('refuse an operation that exceeds them, with the excess in the error', () => {
    const refusal = (measure: { depth?: number; cost?: number; atRoot?: number }) => {
      try {
        checkLimits({ depth: 1, cost: 1, atRoot: 1, ...measure }, limits);
      } catch (error) {
        return error;
      }
      throw new Error('it was admitted');
    };
    expect(refusal({ depth: 4 })).toMatchObject({
      extensions: { code: 'too-deep', details: { depth: 4, allowed: 3 } },
    });
    expect(refusal({ cost: 101 })).toMatchObject({
      extensions: { code: 'too-costly', details: { cost: 101, allowed: 100 } },
    });
    expect(refusal({ atRoot: 11 })).toMatchObject({
      extensions: { code: 'too-many-fields-at-the-root', details: { fields: 11, allowed: 10 } },
    });
  });
});
