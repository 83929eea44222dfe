import { describe, expect, test } from 'vitest';
import { maxAllowedAddresses } from '../../../src/domain/api-key/api-key-terms.js';
import { isAllowed } from '../../../src/relay/admission/ip-allow-list.js';

/** A list that counts how often one of its lines is looked at. */
function counted(lines: readonly string[]): { lines: readonly string[]; reads: () => number } {
  let reads = 0;
  const watched = new Proxy(lines, {
    get(target, property) {
      if (typeof property === 'string' && /^\d+$/.test(property)) reads++;
      return Reflect.get(target, property);
    },
  });
  return { lines: watched, reads: () => reads };
}

describe('the allow list of an API key', () => {
  test('is parsed once, however many calls there are', () => {
    const { lines, reads } = counted(['203.0.113.7', '198.51.100.0/24', '2001:db8::/32']);
    expect(isAllowed('203.0.113.7', lines)).toBe(true);
    const afterFirst = reads();
    for (let call = 0; call < 100; call++) expect(isAllowed(`198.51.100.${call}`, lines)).toBe(true);
    expect(isAllowed('192.0.2.1', lines)).toBe(false);
    expect(reads()).toBe(afterFirst);
  });

  test('stored before there was a limit is applied up to the limit', () => {
    const stored = Array.from(
      { length: 230_000 },
      (_, index) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
    );
    const { lines, reads } = counted(stored);
    expect(isAllowed('10.0.0.9', lines)).toBe(true);
    expect(isAllowed('10.3.0.9', lines)).toBe(false);
    expect(reads()).toBe(maxAllowedAddresses);
  });

  test.each([
    ['none', [], true],
    ['only blank lines', ['', ' , '], true],
    ['only lines that are not addresses', ['home', '203.0.113.7/99'], false],
    ['the address among others', ['192.0.2.1', ' 203.0.113.7, '], true],
    ['the range', ['203.0.113.0/24'], true],
    ['other addresses', ['203.0.113.8'], false],
  ])('with %s admits the caller or refuses it', (_, lines, allowed) => {
    expect(isAllowed('203.0.113.7', lines)).toBe(allowed);
    expect(isAllowed('::ffff:203.0.113.7', lines)).toBe(allowed);
  });
});
