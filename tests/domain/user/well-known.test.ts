import { expect, test } from 'vitest';
import { wellKnownAddress } from '../../../src/domain/user/well-known.js';

test('an issuer equals its discovery document, with and without a slash at its end', () => {
  const document = 'https://id.example/realms/a/.well-known/openid-configuration';
  for (const typed of ['https://id.example/realms/a', ' https://id.example/realms/a/ ', document])
    expect(wellKnownAddress(typed)).toBe(document);
  expect(wellKnownAddress(' ')).toBe('');
});
