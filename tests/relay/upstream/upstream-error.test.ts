import { describe, expect, test } from 'vitest';
import {
  errorOfStatus,
  reportedFailure,
  reportedRetryAfter,
  statusOf,
} from '../../../src/relay/upstream/upstream-error.js';

const channel = {
  key: 'sk-0123456789abcdef',
  baseUrl: 'https://eu.api.provider.example/v1',
  organization: null,
  other: '',
  proxy: null,
};

const refusal = (status: number, body: unknown) =>
  errorOfStatus(status, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), channel);

describe('an upstream error', () => {
  test("keeps OpenAI's members unchanged", () => {
    const error = { message: 'No such model', type: 'invalid_request_error', param: 'model', code: 'model_not_found' };
    expect(refusal(404, { error })).toEqual({ status: 404, ...error, retryAfter: null });
    expect(refusal(400, { error: { ...error, param: null, code: null } })).toMatchObject({ param: null, code: null });
  });

  test.each([
    ['an error that is a text', { error: 'out of memory' }, 'out of memory'],
    ['an error in a list', [{ error: { message: 'listed' } }], 'listed'],
    ['message', { message: 'm', msg: 'other' }, 'm'],
    ['msg', { msg: 'm' }, 'm'],
    ['err', { err: 'm' }, 'm'],
    ['error_msg', { error_msg: 'm', error_code: 17 }, 'm'],
    ['detail', { detail: 'm' }, 'm'],
    ['a list of details', { detail: [{ loc: ['body', 'n'], msg: 'too big' }, { msg: 'bad' }] }, 'body.n: too big; bad'],
    ['a list of errors', { errors: [{ code: 5007, message: 'm' }], success: false }, 'm'],
    ['header.message', { header: { code: 11200, message: 'm' } }, 'm'],
    ['response.error.message', { response: { error: { message: 'm' } } }, 'm'],
    ['a plain text', '"m"', 'm'],
    ['an unknown body', { status: 'broken' }, 'bad response status code 500'],
    ['an empty body', '', 'bad response status code 500'],
    ['a page of a proxy', '<html>Bad gateway at host-7</html>', 'bad response status code 500'],
  ])('is read from %s', (_shape, body, message) => {
    expect(refusal(500, body).message).toBe(message);
  });

  test('has a default type and code where the upstream sends none', () => {
    expect(refusal(503, { message: 'm' })).toEqual({
      status: 503,
      message: 'm',
      type: 'upstream_error',
      code: 'bad_response_status_code',
      param: '503',
      retryAfter: null,
    });
  });

  const nested = (begin: string, end: string) => `${begin.repeat(90_000)}1${end.repeat(90_000)}`;
  test.each([
    ['its message', `{"error":{"message":${nested('{"message":', '}')}}}`],
    ['its place', `{"detail":[{"msg":"m","loc":[${nested('[', ']')}]}]}`],
    ['its place, less deeply', `{"detail":[{"msg":"m","loc":[${'['.repeat(2000)}${']'.repeat(2000)}]}]}`],
  ])('however deeply nested in %s, is read as an error', (_where, body) => {
    expect(refusal(400, body)).toMatchObject({ status: 400, type: 'upstream_error' });
  });

  test('has numbers as text', () => {
    expect(refusal(429, { error: { code: 429, message: 'm' } }).code).toBe('429');
  });
});

describe('the retry time of an upstream', () => {
  test.each([
    ['30', '30'],
    [' 7 ', '7'],
    ['Wed, 21 Oct 2026 07:28:00 GMT', 'Wed, 21 Oct 2026 07:28:00 GMT'],
  ])('%j is passed on', (header, seconds) => expect(reportedRetryAfter(header)).toBe(seconds));

  test.each([
    undefined,
    ['1', '2'],
    '-1',
    '1.5',
    'soon',
    'sk-0123456789abcdef',
    '1'.repeat(20),
    'Wed, sk-0123456789abcdef012',
  ])('%j is not passed on', (header) => expect(reportedRetryAfter(header)).toBeNull());
});

describe('the status of a failure inside a success', () => {
  test.each([
    [{ error: { code: 503, message: 'x' } }, 503],
    [{ error: { code: 'invalid_api_key', message: 'x' } }, 401],
    [{ error: { type: 'authentication_error', message: 'x' } }, 401],
    [{ error: { type: 'permission_error', message: 'x' } }, 403],
    [{ error: { type: 'insufficient_quota', message: 'x' } }, 429],
    [{ error: 'Insufficient Balance' }, 429],
    [{ error: { code: 'rate_limit_exceeded', message: 'x' } }, 429],
    [{ code: 'DataInspectionFailed', message: 'x' }, 400],
    [{ error: { type: 'invalid_request_error', message: 'x' } }, 400],
    [{ error: { code: 'model_not_found', message: 'x' } }, 404],
    [{ error: { type: 'server_error', message: 'boom' } }, 502],
  ])('of %j is %i', (body, status) => {
    expect(statusOf(reportedFailure(body))).toBe(status);
  });
});
