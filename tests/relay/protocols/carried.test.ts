import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exactly, parseExactly } from '../../../src/relay/json/exact-json.js';
import { ExactNumber, jsonText } from '../../../src/relay/json/exact-number.js';
import { isList, isObject, type JsonObject, type JsonValue } from '../../../src/relay/json/json.js';
import { carried, carriedOver } from '../../../src/relay/protocols/carried.js';
import { jsonTexts, numberTexts, objectTexts } from '../../support/inputs/json-texts.js';

const doubles = (value: JsonValue): unknown => {
  if (value instanceof ExactNumber) return value.value;
  if (isList(value)) return value.map(doubles);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, one]) => [name, one === undefined ? undefined : doubles(one)]);
  return Object.fromEntries(entries);
};

/** As JSON.stringify writes it. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('JSON that keeps its numbers exact', () => {
  test('has the value of JSON.parse, and is written with all digits of every number', () => {
    fc.assert(
      fc.property(jsonTexts, (inner) => {
        const text = `[${inner}]`;
        const value = parseExactly(text);
        const parsed = JSON.parse(text);
        expect(doubles(value)).toEqual(parsed);
        const numbers = (json: string): string[] =>
          [...json.matchAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g)]
            .map(([all]) => all)
            .filter((all) => !all.startsWith('"'));
        // Members whose names are whole numbers come first in an object.
        expect(numbers(jsonText(value)).sort()).toEqual(numbers(text).sort());
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    '2512292042121000001',
    '9223372036854775807',
    '-9007199254740993',
    '0.1000000000000000055511151231257827',
    '1e400',
    '-0',
    '1.0',
    '1E5',
    '0.0000001',
    '123456789012345678901234567890',
    '5e-324',
    '100.10',
  ])('writes %s as it was read', (number) => {
    const text = `{"a":[${number},{"b":${number}}],"c":${number}}`;
    expect(jsonText(parseExactly(text))).toBe(text);
  });

  test('uses doubles for numbers in the outermost object, and for no others', () => {
    const text = '{"temperature":1.0,"seed":9223372036854775807,"n":1e0,"deep":[[1.0]]}';
    const value = exactly(text, JSON.parse(text), 2) as JsonObject;
    expect([value.temperature, value.n]).toEqual([1, 1]);
    expect(value.seed).toBeInstanceOf(ExactNumber);
    expect(jsonText(value)).toBe('{"temperature":1,"seed":9223372036854775807,"n":1,"deep":[[1.0]]}');
  });

  test('is the parsed value itself where no number exceeds a double', () => {
    const text = '{"a":[1,2.5,-3,900719925474099],"b":"say 1.5, then 1,000"}';
    const value = JSON.parse(text);
    expect(exactly(text, value)).toBe(value);
  });

  test('treats members called __proto__ as ordinary ones, and takes the last of a duplicate', () => {
    const text = '{"__proto__":{"a":1.0},"b":1,"b":2.0}';
    const value = parseExactly(text) as JsonObject;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(jsonText(value)).toBe('{"__proto__":{"a":1.0},"b":2.0}');
  });

  test('uses doubles where it nests too deeply for the exact reader', () => {
    const deep = `${'['.repeat(100_000)}1.0${']'.repeat(100_000)}`;
    expect(isList(parseExactly(deep))).toBe(true);
  });

  test('treats a text that looks like a number as text', () => {
    const value = { text: 'number-1', exact: new ExactNumber('1.0') };
    expect(jsonText(value)).toBe('{"text":"number-1","exact":1.0}');
    expect(JSON.stringify(value)).toBe('{"text":"number-1","exact":1}');
  });
});

/** What may be done to a body: members taken out, put in and changed, at any depth; entries of lists, too. */
const edits = fc.array(
  fc.record({ path: fc.array(fc.nat(5), { maxLength: 3 }), kind: fc.constantFrom('out', 'in', 'other', 'first') }),
  { minLength: 0, maxLength: 4 },
);

function edited(value: JsonValue, path: readonly number[], kind: string): JsonValue {
  const [at = 0, ...deeper] = path;
  if (isList(value)) {
    if (kind === 'first' && deeper.length === 0) return [{ put: 'in' }, ...value];
    return value.map((one, nth) => (nth === at % value.length ? edited(one, deeper, kind) : one));
  }
  if (!isObject(value)) return kind === 'other' ? 'other' : value;
  const names = Object.keys(value);
  const name = names[at % Math.max(names.length, 1)];
  if (kind === 'in' && path.length <= 1) return { ...value, added: [1, 'x'] };
  if (name === undefined) return value;
  if (path.length <= 1 && kind === 'out') {
    const { [name]: _, ...rest } = value;
    return rest;
  }
  if (path.length <= 1 && kind === 'other') return { ...value, [name]: 'other' };
  return { ...value, [name]: edited(value[name] ?? null, deeper, kind) };
}

describe('a JSON text with changed members', () => {
  test('has the changed value, and is the same text where nothing changed', () => {
    fc.assert(
      fc.property(objectTexts, edits, (text, changes) => {
        const value = parseExactly(text) as JsonObject;
        const source = { text, value };
        expect(carried(source, { ...value })).toBe(text);
        let after = value;
        for (const { path, kind } of changes) after = edited(after, path, kind) as JsonObject;
        const sent = carried(source, after);
        expect(JSON.parse(sent)).toEqual(JSON.parse(jsonText(after)));
        expect(carriedOver(text, JSON.parse(text))).toBe(text);
        const native = changes.reduce<JsonValue>((one, { path, kind }) => edited(one, path, kind), JSON.parse(text));
        // What is written anew there is written by doubles.
        expect(plain(JSON.parse(carriedOver(text, native as JsonObject)))).toEqual(plain(native));
      }),
      { numRuns: 2000 },
    );
  });

  const text =
    ' { "model" : "a" ,\n "seed":9223372036854775807, "t":1.0, "s":"\\u00e4\\ud800", "list":[ {"n":1e400}, [-0] ] } ';
  const value = parseExactly(text) as JsonObject;
  const source = { text, value };

  test.each<readonly [string, JsonObject, string]>([
    ['another model', { ...value, model: 'b' }, text.replace('"a"', '"b"')],
    ['the first member removed', { ...value, model: undefined }, text.replace('"model" : "a" ,\n ', '')],
    ['the last member removed', { ...value, list: undefined }, text.replace(', "list":[ {"n":1e400}, [-0] ]', '')],
    ['one member added', { ...value, more: { a: 1 } }, text.replace('] ] } ', '] ] ,"more":{"a":1}} ')],
    [
      'a member changed inside a list',
      { ...value, list: [{ n: 1, m: 2 }, (value.list as JsonValue[])[1] ?? null] },
      text.replace('{"n":1e400}', '{"n":1,"m":2}'),
    ],
    [
      'an entry inserted before the others',
      { ...value, list: ['new', ...(value.list as JsonValue[])] },
      text.replace('[ {"n":1e400}, [-0] ]', '["new",{"n":1e400},[-0]]'),
    ],
    ['a member removed whose name every object inherits', { ...value, toString: undefined }, text],
    ['all members removed', {}, ' {  } '],
    ['all members removed and one added', { a: 1 }, ' {  "a":1} '],
  ])('keeps everything but the change: %s', (_title, after, expected) => {
    expect(carried(source, after)).toBe(expected);
  });

  test('is serialized again, object by object, where a member is duplicated', () => {
    const twice = '{"usage":{"a":1},"x":1.0,"usage":{"a":2}}';
    const after = JSON.parse(twice);
    after.usage = { a: 3 };
    expect(carriedOver(twice, after)).toBe('{"usage":{"a":3},"x":1}');
  });
});

describe('numbers in any notation', () => {
  test('survive a change of a neighbouring member', () => {
    fc.assert(
      fc.property(numberTexts, (number) => {
        const body = `{"model":"a","tools":[{"maximum":${number}}],"seed":${number}}`;
        const value = parseExactly(body, 3) as JsonObject;
        expect(carried({ text: body, value }, { ...value, model: 'b' })).toBe(body.replace('"a"', '"b"'));
      }),
    );
  });
});

test('a member with the name of an inherited property is removed like any other', () => {
  const text = '{"toString":1,"constructor":2.0,"a":3}';
  const value = JSON.parse(text);
  expect(carried({ text, value }, { a: 3 })).toBe('{"a":3}');
  expect(carried({ text, value }, { a: 3, constructor: 2 } as unknown as JsonObject)).toBe('{"constructor":2.0,"a":3}');
});
