// @vitest-environment jsdom
import { describe, expect, test } from 'vitest';
import { noteReturn, returnPath, signInAddress, takeReturn } from '../../web/src/kit/leave.js';
import { formatTime } from '../../web/src/kit/time.js';
import { emptySetupForm, problemsIn } from '../../web/src/setup/setupForm.js';

describe('the set-up form', () => {
  const good = { ...emptySetupForm, username: 'root', password: 'correct-horse', confirmPassword: 'correct-horse' };

  test('accepts a name, a password of eight, and the same again', () => {
    expect(problemsIn(good, false)).toEqual({});
    expect(problemsIn({ ...good, password: '12345678', confirmPassword: '12345678' }, false)).toEqual({});
  });
  test('refuses a blank name, a short password and a different confirmation, all at once', () => {
    expect(problemsIn({ ...good, username: '  ', password: 'short', confirmPassword: 'other' }, false)).toEqual({
      username: 'wrong.username',
      password: 'wrong.short',
      confirmPassword: 'wrong.mismatch',
    });
  });
  test('requires the code where the gateway does, and only there', () => {
    expect(problemsIn(good, true)).toEqual({ code: 'wrong.code' });
    expect(problemsIn({ ...good, code: 'ABCD-EFGH-JKLM' }, true)).toEqual({});
  });
  test('has the external mode as its default', () => expect(emptySetupForm.mode).toBe('EXTERNAL'));
});

describe('after signing in from a page', () => {
  const back = (from: string) => returnPath(new URL(signInAddress('/login', from), 'http://gateway').searchParams);

  test('the browser returns to that page, with query and hash', () => {
    for (const from of [
      '/log',
      '/log?page=2&q=a%26b',
      '/setting?tab=prices#gpt-4o',
      '/no/such/page',
      '/log?to=//evil.example',
    ])
      expect(back(from)).toBe(from);
  });
  test.each([
    'https://evil.example/',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '\t//evil.example',
    '/.//evil.example',
    '/log/..//evil.example',
    '/.\\\\evil.example',
    '/%2e//evil.example',
    '//[',
    'javascript:alert(1)',
    '/\\javascript:alert(1)//',
    'data:text/html,x',
    'log',
    '',
    `/${'a'.repeat(2_000)}`,
  ])('the browser never goes to another site: %j', (from) => expect(back(from)).toBeNull());
  test('the browser never goes to a sign-in page again, however it is written', () => {
    for (const from of [
      '/',
      '/login?expired=true',
      '/Login/',
      '/register',
      '/setup',
      '/reset',
      '/user/reset?token=x',
      '/oauth/github?code=x',
    ])
      expect(back(from)).toBeNull();
  });
  test('the browser has no page to return to from the sign-in page itself', () => {
    expect(returnPath(new URLSearchParams('expired=true'))).toBeNull();
    expect(signInAddress('/login', null)).toBe('/login');
  });
  test('the page to return to and the invitation are kept from one sign-in page to the next', () => {
    expect(signInAddress('/register', '/log?page=2', 'AB12')).toBe('/register?aff=AB12&from=%2Flog%3Fpage%3D2');
  });
  test('the page stored for a round trip is used once, and validated like an address', () => {
    noteReturn('/log?page=2');
    expect(takeReturn()).toBe('/log?page=2');
    expect(takeReturn()).toBeNull();
    noteReturn('/log');
    noteReturn(null);
    expect(takeReturn()).toBeNull();
    noteReturn('/.//evil.example');
    expect(takeReturn()).toBeNull();
  });
});

test('a time is displayed to the second', () => {
  const at = new Date(2026, 0, 2, 3, 4, 5).getTime() / 1000;
  expect(formatTime(at)).toBe('2026-01-02 03:04:05');
});
