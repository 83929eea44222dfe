// @vitest-environment jsdom
import { describe, expect, test } from 'vitest';
import { returnPath } from '../../web/src/kit/leave.js';
import { formatTime } from '../../web/src/kit/time.js';
import { emptySetupForm, problemsIn } from '../../web/src/setup/setupForm.js';

describe('setting up', () => {
  const good = { ...emptySetupForm, username: 'root', password: 'correct-horse', confirmPassword: 'correct-horse' };

  test('takes a name, a password of eight, and the same again', () => {
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
  test('asks for the code where the gateway does, and only there', () => {
    expect(problemsIn(good, true)).toEqual({ code: 'wrong.code' });
    expect(problemsIn({ ...good, code: 'ABCD-EFGH-JKLM' }, true)).toEqual({});
  });
  test('begins in the external mode', () => expect(emptySetupForm.mode).toBe('EXTERNAL'));
});

describe('after a login that had to be repeated', () => {
  const back = (query: string) => returnPath(new URLSearchParams(query));

  test('one is back where one was', () => {
    expect(back('expired=true&from=%2Flog%3Fpage%3D2')).toBe('/log?page=2');
  });
  test('but never on another site, nor at the door again', () => {
    for (const from of ['https://example.com/', '//example.com/', '/\\example.com', 'log', '/login?expired=true'])
      expect(back(new URLSearchParams({ expired: 'true', from }).toString())).toBeNull();
  });
  test('a first login has nowhere to go back to', () => {
    expect(back('from=%2Flog')).toBeNull();
    expect(back('expired=true')).toBeNull();
  });
});

test('a moment is shown to the second', () => {
  const at = new Date(2026, 0, 2, 3, 4, 5).getTime() / 1000;
  expect(formatTime(at)).toBe('2026-01-02 03:04:05');
});
