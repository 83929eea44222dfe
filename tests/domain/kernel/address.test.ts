import { expect, test } from 'vitest';
import { urlIn } from '../../../src/domain/kernel/address.js';

test('an address is counted once however often it is requested, whatever letters it has', () => {
  const texts = ['https://bücher.example/ä?ö', 'https://書籍.example/', 'https://gate.example'];
  // Long enough for the engine to compile what it asks.
  for (let round = 0; round < 20_000; round++) for (const text of texts) if (urlIn(text) === null) expect.fail(text);
  expect(urlIn('https://bücher.example')?.origin).toBe('https://xn--bcher-kva.example');
});

test('a text that is not an address is refused', () => {
  for (const text of ['', 'gate.example', 'https://', 'https://[::1', '//gate.example']) expect(urlIn(text)).toBeNull();
  expect(urlIn('/path', new URL('https://gate.example'))?.href).toBe('https://gate.example/path');
});
