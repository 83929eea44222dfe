import { describe, expect, test } from 'vitest';
import { forgottenVisitorCookie, newVisitor, visitorCookie, visitorIn } from '../../src/http/visitor-cookie.js';

describe('the visitor cookie', () => {
  test('identifies a returning browser', () => {
    const visitor = newVisitor();
    const [pair = ''] = visitorCookie(visitor, false).split(';');
    expect(visitorIn(`session=x; ${pair}`)).toBe(visitor);
    expect(newVisitor()).not.toBe(visitor);
  });
  test('is refused if the browser invented it', () => {
    for (const made of ['', 'short', `${newVisitor()}x`, 'a'.repeat(31), `${'a'.repeat(31)}%`])
      expect(visitorIn(`visitor=${made}`), made).toBeNull();
    expect(visitorIn(undefined)).toBeNull();
    expect(visitorIn('session=abc')).toBeNull();
  });
  test('is hidden from scripts and other sites, and encrypted over TLS', () => {
    const attributes = ['HttpOnly', 'SameSite=Strict', 'Path=/', 'Max-Age=86400'];
    for (const attribute of attributes) expect(visitorCookie('v', false)).toContain(attribute);
    expect(visitorCookie('v', false)).not.toContain('Secure');
    expect(visitorCookie('v', true)).toContain('Secure');
    expect(forgottenVisitorCookie(true)).toMatch(/^visitor=;.*Max-Age=0/);
  });
});
