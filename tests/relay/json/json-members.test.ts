import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonBody } from '../../../src/relay/dialects/json-body.js';
import { membersIn, repeatedMember } from '../../../src/relay/json/json-members.js';
import { atOnce } from '../../../src/relay/text/large-work.js';

/** What is read of a body that comes in these pieces, or why it is refused. */
function read(text: string, cut = text.length): unknown {
  const bytes = Buffer.from(text);
  const body = new JsonBody();
  for (const piece of [bytes.subarray(0, cut), bytes.subarray(cut)]) {
    const wrong = piece.length === 0 ? null : body.take(piece);
    if (wrong !== null) throw wrong;
  }
  return atOnce(body.read()).value;
}

describe('a duplicate member in one object', () => {
  test.each([
    ['written the same way', '{"max_tokens":1,"max_tokens":60000}', 'max_tokens'],
    ['escaped', '{"max_tokens":1,"max\\u005ftokens":60000}', 'max_tokens'],
    ['with the same value', '{"n":1,"n":1}', 'n'],
    ['deep inside', '{"a":[{"b":{"c":[],"c":{}}}]}', 'c'],
    ['after texts with quotes, colons and brackets', '{"a":"\\":{[\\\\","b" : {"x":1},\n"b"\t:2}', 'b'],
    ['with a name of the prototype', '{"__proto__":1,"__proto__":2}', '__proto__'],
    ['with an empty name', '{"":1,"":2}', ''],
  ])('is refused by its name: %s', (_how, text, param) => {
    for (let cut = 1; cut <= text.length; cut++)
      expect(() => read(text, cut)).toThrow(expect.objectContaining({ status: 400, param }));
  });

  test.each(['{"a":{"n":1},"b":{"n":1},"n":["n","n"]}', '{"a":"n","n":"a:a"}', '{"__proto__":{"n":1},"n":1}', '{}'])(
    'is not seen in two objects, nor in a text: %s',
    (text) => expect(read(text)).toEqual(JSON.parse(text)),
  );

  test('is found in every body that has one, and in no other', () => {
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 5 }, fc.string(), fc.integer(), fc.array(tie('value')), tie('object')),
      object: fc.dictionary(fc.string({ unit: 'binary' }), tie('value'), { maxKeys: 4 }),
    }));
    const name = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(value, name, fc.nat(3), (inner, twice, indent) => {
        const once = JSON.stringify({ [`${twice}x`]: inner, [twice]: 1 }, null, indent);
        expect(repeatedMember(once)).toBeNull();
        expect(membersIn(JSON.parse(once))).toBe(membersIn(JSON.parse(JSON.stringify(JSON.parse(once)))));
        expect(() => read(once)).not.toThrow();
        const again = `{"a":${once.slice(0, -1)},${JSON.stringify(twice)}:2}}`;
        expect(repeatedMember(again)).toBe(twice);
        expect(() => read(again)).toThrow(expect.objectContaining({ status: 400 }));
      }),
      { numRuns: 300 },
    );
  });
});
