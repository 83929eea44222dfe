import { describe, expect, test } from 'vitest';
import { forgottenVisitorCookie, newVisitor, visitorCookie, visitorIn } from '../../src/http/visitor-cookie.js';

describe('a browser', () => {
  test('is known again by what it was given', () => {
    const visitor = newVisitor();
    const [pair = ''] = visitorCookie(visitor, false).split(';');
    expect(visitorIn(`session=x; ${pair}`)).toBe(visitor);
    expect(newVisitor()).not.toBe(visitor);
  });
  test('is not known by what it made up', () => {
    for (const made of ['', 'short', `${newVisitor()}x`, 'a'.repeat(31), `${'a'.repeat(31)}%`])
      expect(visitorIn(`visitor=${made}`), made).toBeNull();
    expect(visitorIn(undefined)).toBeNull();
    expect(visitorIn('session=abc')).toBeNull();
  });
  test('tells it to no script and no other site, and over TLS to nobody on the way', () => {
    const attributes = ['HttpOnly', 'SameSite=Strict', 'Path=/', 'Max-Age=86400'];
    for (const attribute of attributes) expect(visitorCookie('v', false)).toContain(attribute);
    expect(visitorCookie('v', false)).not.toContain('Secure');
    expect(visitorCookie('v', true)).toContain('Secure');
    expect(forgottenVisitorCookie(true)).toMatch(/^visitor=;.*Max-Age=0/);
  });
});
