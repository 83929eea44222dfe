import { describe, expect, test } from 'vitest';
import type { TelegramSignIn } from '../../src/application/ports/identity-provider-ports.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { isSignedByTelegram } from '../../src/identity-providers/telegram.js';
import { telegramSigned } from './stand-ins.js';

const token = '987654:AAF-token';
const at = 1_700_000_000;
const members = {
  auth_date: String(at),
  first_name: 'Ada',
  id: '42',
  last_name: 'Lovelace',
  photo_url: 'https://t.me/i/userpic/320/ada.jpg',
  username: 'ada',
};
/** Worked out with `openssl dgst` by the recipe of Telegram's page. */
const hash = '69150f9565808558b7f4b163c071454078c2cd579dd1b3624de6f8edbc46ccfb';

const given = (changed: Readonly<Record<string, string | undefined>> = {}): TelegramSignIn => ({
  ...members,
  hash,
  ...changed,
});
const after = (seconds: number) => Instant((at + seconds) * 1000);
const isBelieved = (signIn: TelegramSignIn, seconds = 30): boolean => isSignedByTelegram(token, signIn, after(seconds));

describe("the data of Telegram's widget", () => {
  test('is accepted as signed', () => {
    expect(isBelieved(given())).toBe(true);
    expect(telegramSigned(members, token).hash).toBe(hash);
  });

  test('is accepted without optional members', () => {
    const few = { auth_date: String(at), id: '42' };
    expect(isBelieved(telegramSigned(few, token) as unknown as TelegramSignIn)).toBe(true);
  });

  test.each([
    ['another id', { id: '43' }],
    ['another name', { first_name: 'Eve' }],
    ['a missing name', { last_name: undefined }],
    ['a picture from elsewhere', { photo_url: 'https://example.org/' }],
    ['a later date', { auth_date: String(at + 1) }],
    ['a line smuggled into a name', { first_name: 'Ada\nid=43' }],
    ['no signature', { hash: '' }],
    ['half a signature', { hash: hash.slice(0, 32) }],
    ['a signature in capitals', { hash: hash.toUpperCase() }],
    ['a signature of other characters', { hash: 'g'.repeat(64) }],
    ['a longer signature', { hash: `${hash}00` }],
  ])('is refused with %s', (_, changed) => {
    expect(isBelieved(given(changed))).toBe(false);
  });

  test('is refused with the signature of another bot', () => {
    expect(isSignedByTelegram('987654:AAF-other', given(), after(0))).toBe(false);
  });

  test.each([
    [-61, false],
    [-60, true],
    [0, true],
    [600, true],
    [601, false],
  ])('of %i seconds ago: %s', (seconds, believed) => {
    expect(isBelieved(given(), seconds)).toBe(believed);
  });

  test.each(['', '0', '-1', '4e2', '1'.repeat(17), '٤٢'])('identifies no user by the id "%s"', (id) => {
    const signed = telegramSigned({ ...members, id }, token) as unknown as TelegramSignIn;
    expect(isBelieved(signed)).toBe(false);
  });

  test.each(['', 'now', '1e9', '-5'])('has no date in "%s"', (auth_date) => {
    const signed = telegramSigned({ ...members, auth_date }, token) as unknown as TelegramSignIn;
    expect(isBelieved(signed)).toBe(false);
  });
});
