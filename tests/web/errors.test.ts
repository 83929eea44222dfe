// @vitest-environment jsdom
import { CombinedGraphQLErrors, ServerError } from '@apollo/client/errors';
import { beforeAll, describe, expect, test } from 'vitest';
import { errorText, failureCode, isSessionLost, loadFailureTexts } from '../../web/src/kit/words/errors.js';
import { changeLanguage, startLanguage } from '../../web/src/kit/words/i18n.js';

beforeAll(async () => {
  startLanguage();
  await changeLanguage('en');
  await loadFailureTexts();
});

const answered = (message: string, extensions: Record<string, unknown>) =>
  new CombinedGraphQLErrors({ errors: [{ message, extensions }] });

const status = (statusCode: number, bodyText = '') =>
  new ServerError(`Response not successful: Received status code ${statusCode}`, {
    response: new Response(bodyText, { status: statusCode }),
    bodyText,
  });

describe('the error of a failed operation', () => {
  test('is in the reader’s language, by the code of the refusal', async () => {
    const refused = answered('Password too short', {
      code: 'password-too-short',
      kind: 'invalid',
      details: { min: 8 },
    });
    expect(errorText(refused)).toBe('The password must have at least 8 characters');
    await changeLanguage('zh');
    expect(errorText(refused)).toBe('密码长度不能少于 8 位');
    await changeLanguage('en');
  });
  test('is the server’s own message where the dictionary has none', () => {
    expect(errorText(answered('The moon is full', { code: 'moon' }))).toBe('The moon is full');
  });
  test('is chosen by code also when the request was refused before it was executed', () => {
    const body = JSON.stringify({
      errors: [{ message: 'Too many attempts', extensions: { code: 'too-many-attempts' } }],
    });
    expect(errorText(status(429, body))).toBe('Too many requests, try again later');
    expect(failureCode(status(429, body))).toBe('too-many-attempts');
  });
  test('is chosen by code also over the WebSocket', () => {
    expect(errorText([{ message: 'Role too low', extensions: { code: 'role-too-low' } }])).toBe('You may not do this');
  });
  test.each([
    [429, 'Too many requests, try again later'],
    [500, 'Internal server error, please contact the administrator'],
    [502, 'Internal server error, please contact the administrator'],
    [405, 'This site is for demonstration only, there is no server'],
  ])('is chosen by status %d', (code, text) => expect(errorText(status(code))).toBe(text));
  test('has the message of any other status', () => {
    expect(errorText(status(418))).toBe('Error: Response not successful: Received status code 418');
  });
  test('names an unreachable server', () => {
    expect(errorText(new TypeError('Failed to fetch'))).toBe('Unable to connect to server');
  });
});

describe('a lost session', () => {
  test('is recognised by code, by status, and over the WebSocket', () => {
    expect(isSessionLost(answered('Not signed in', { code: 'not-signed-in' }))).toBe(true);
    expect(isSessionLost(status(401))).toBe(true);
    expect(isSessionLost([{ message: '', extensions: { code: 'not-signed-in' } }])).toBe(true);
  });
  test('is distinguished from a wrong password, and from a missing permission', () => {
    expect(isSessionLost(answered('Wrong credentials', { code: 'wrong-credentials' }))).toBe(false);
    expect(isSessionLost(answered('Role too low', { code: 'role-too-low' }))).toBe(false);
    expect(isSessionLost(status(500))).toBe(false);
  });
});
