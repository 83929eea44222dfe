import { describe, expect, test } from 'vitest';
import { chatTarget, wantsKey } from '../../web/src/chat/chatLink.js';

const own = { address: 'https://gateway.example:8443/base', key: 'sk-Secret1' };

describe('an operator’s chat link', () => {
  test('contains address and key in place of its placeholders, encoded, each time', () =>
    expect(chatTarget('https://chat.example/{key}/#/?settings={"key":"{key}","url":"{address}/v1"}', own)?.url).toBe(
      'https://chat.example/sk-Secret1/#/?settings={%22key%22:%22sk-Secret1%22,%22url%22:%22https%3A%2F%2Fgateway.example%3A8443%2Fbase/v1%22}',
    ));
  test('is not affected by patterns or placeholders in the inserted values', () =>
    expect(
      chatTarget('https://chat.example/?a={address}&k={key}', { address: "$&{key}$'", key: '$1&x=y#z' })?.url,
    ).toBe('https://chat.example/?a=%24%26%7Bkey%7D%24%27&k=%241%26x%3Dy%23z'));
  test.each([
    ['https://chat.example/', 'frame'],
    ['http://chat.example/', 'window'],
    ['ama://set-api-key?server={address}&key={key}', 'app'],
  ])('such as %s opens as %s', (link, opens) => expect(chatTarget(link, own)?.opens).toBe(opens));
  test.each(['', '/chat', '{address}/chat', 'https://', 'http://['])('such as %j is refused', (link) =>
    expect(chatTarget(link, own)).toBeNull(),
  );
  test('may require a key or not', () => {
    expect(wantsKey('https://chat.example/?k={key}')).toBe(true);
    expect(wantsKey('https://chat.example/?u={address}')).toBe(false);
  });
});
