import { describe, expect, test } from 'vitest';
import { argon2Passwords } from '../../../src/adapters/sign-in/passwords.js';

describe('passwords', () => {
  test('are hashed with argon2id, 19 MiB and two passes', async () => {
    expect(await argon2Passwords.hash('correct horse')).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });

  test('are salted: one password never has the same hash twice', async () => {
    expect(await argon2Passwords.hash('same')).not.toBe(await argon2Passwords.hash('same'));
  });

  test('are verified against their hash only', async () => {
    const hash = await argon2Passwords.hash('correct horse');
    expect(await argon2Passwords.verify(hash, 'correct horse')).toBe(true);
    expect(await argon2Passwords.verify(hash, 'correct horse ')).toBe(false);
    expect(await argon2Passwords.verify(hash, '')).toBe(false);
  });

  test('that were hashed with other parameters are verified too', async () => {
    const cheaper = '$argon2id$v=19$m=64,t=1,p=1$/V3aBwGBYhWOekmtqDEW/Q$evrFtCDoRMeDF4uXn/mdfUx5kIsVCeZn/UI+73twowk';
    expect(await argon2Passwords.verify(cheaper, 'correct horse')).toBe(true);
    expect(await argon2Passwords.verify(cheaper, 'wrong horse')).toBe(false);
  });
});
