import { describe, expect, test } from 'vitest';
import { objectIn, pairsIn, repeatedPairs, textOfPairs, withMember } from '../../web/src/channels/jsonDraft.js';

describe('a JSON object as pairs', () => {
  test('is read and written unchanged', () => {
    const pairs = [
      { name: 'gpt-4o', value: 'east' },
      { name: 'gpt-5', value: 'west' },
    ];
    expect(pairsIn(textOfPairs(pairs))).toEqual(pairs);
    expect(pairsIn('{"400":500}')).toEqual([{ name: '400', value: '500' }]);
    expect(pairsIn(' ')).toEqual([]);
    expect(textOfPairs([])).toBe('');
  });

  test.each(['{', '[]', 'null', '{"a":{}}', '{"a":true}', '{"a":null}'])('is text only where it is %s', (text) =>
    expect(pairsIn(text)).toBeNull(),
  );

  test('omits pairs without a name, and keeps the first of a duplicate', () => {
    const pairs = [
      { name: ' a ', value: '1' },
      { name: '', value: '2' },
      { name: 'a', value: '3' },
    ];
    expect(JSON.parse(textOfPairs(pairs))).toEqual({ a: '1' });
    expect([...repeatedPairs(pairs)]).toEqual([2]);
  });
});

describe('one member of a JSON object', () => {
  test('is set and removed, with the others unchanged', () => {
    const text = withMember('{"other":[1],"on":false}', 'on', true) ?? '';
    expect(objectIn(text)).toEqual({ other: [1], on: true });
    expect(objectIn(withMember(text, 'on', undefined) ?? '')).toEqual({ other: [1] });
    expect(withMember('{"on":true}', 'on', undefined)).toBe('');
  });

  test('is not set in a value that is not an object', () => expect(withMember('{', 'on', true)).toBeNull());
});
