import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Confidential, withoutSecrets } from '../../../src/relay/upstream/confidential.js';
import { asUpstreamError } from '../../../src/relay/upstream/upstream-error.js';

/* Nobody learns from an upstream's words where it is or how it is paid. */

const channel: Confidential = {
  key: 'sk-0123456789abcdef',
  baseUrl: 'https://eu.api.provider.example/v1',
  organization: null,
  other: '',
  proxy: null,
};

const shown = (text: string, changed: Partial<Confidential> = {}): string =>
  withoutSecrets(text, { ...channel, ...changed }, 2000);

const pem = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDZmK3Wc4\n'.repeat(3)}-----END`;
const document = JSON.stringify({
  project_id: 'proj-of-somebody',
  private_key: pem,
  client_email: 'calls@proj-of-somebody.iam.gserviceaccount.com',
  token_uri: 'https://oauth2.googleapis.com/token',
});

describe('an error message about a channel whose key is a document', () => {
  test.each([
    ['the document', document, '***'],
    ['a value of it', 'no access to proj-of-somebody', 'no access to ***'],
    ['a value that contains another', 'unknown: calls@proj-of-somebody.iam.gserviceaccount.com', 'unknown: ***'],
    ['a line of a long value', `bad ${pem.split('\n')[1]} end`, 'bad *** end'],
    ['a token granted for it', 'ya29.c.b0Aa-Bc_dEf is expired', '*** is expired'],
  ])('does not contain %s', (_what, said, expected) => {
    expect(shown(said, { key: document })).toBe(expected);
  });
});

describe('an error message', () => {
  test.each([
    ['the key', 'key sk-0123456789abcdef is wrong', 'key *** is wrong'],
    ['the key in another letter case', 'key SK-0123456789ABCDEF is wrong', 'key *** is wrong'],
    ['the key partly masked by the upstream', 'key sk-01234****cdef is wrong', 'key *** is wrong'],
    ['a fragment of the key', 'the key that ends in 789abcdef is wrong', 'the key that ends in *** is wrong'],
    ['addresses', 'see https://provider.example/help?a=1 now', 'see *** now'],
    ['the host', 'dial eu.api.provider.example:443 failed', 'dial *** failed'],
    ['the siblings of the host', 'ask console.provider.example', 'ask ***'],
    ['IPv4 addresses', 'connect 10.0.0.7:8080: refused', 'connect ***: refused'],
    [
      'IPv6 addresses',
      'connect fd12:3456::7 failed, [2001:db8::1]:8080 too, ::1.',
      'connect *** failed, *** too, ***.',
    ],
    ['IPv6 addresses with a zone or IPv4 inside', 'from fe80::1%eth0 to ::ffff:10.0.0.7', 'from *** to ***'],
    ['hosts of one label in resolver errors', 'getaddrinfo ENOTFOUND vllm', 'getaddrinfo ENOTFOUND ***'],
    ['hosts and ports', 'dial backend-1:8080, localhost:11434, gpu.svc:80', 'dial ***, ***, ***'],
    ['names of private networks', 'no route to gpu7.internal', 'no route to ***'],
    [
      'the keys of other services',
      'Bearer abcdef123456 and AIzaSyA1234567890 and hf_abcdefgh12345',
      'Bearer *** and *** and ***',
    ],
    ['keys of unknown form', 'key 9f86d081884c7d659a2feaa0c55ad015 is wrong', 'key *** is wrong'],
    ['signed tokens', 'token eyJhbGciOiJIUzI1NiJ9.eyJpZCI6MX0.abc expired', 'token *** expired'],
  ])('does not contain %s', (_what, message, expected) => expect(shown(message)).toBe(expected));

  test.each([
    ['parts of a key in several parts', 'bad wJalrXUtnFEMI', { key: 'AKIAIOSFODNN7|wJalrXUtnFEMI' }, 'bad ***'],
    ['a key of plain letters', 'bad KeyOfPlainLetters!', { key: 'keyofplainletters' }, 'bad ***!'],
    ['the organisation', 'no quota in org-a1', { organization: 'org-a1' }, 'no quota in ***'],
    ['the account', 'account 0af1b2c3d4e5f60718293a4b', { other: '0af1b2c3d4e5f60718293a4b' }, 'account ***'],
    ['a host of one label', 'Upstream: refused', { baseUrl: 'http://upstream:8000' }, '***: refused'],
    ['a host of digits', 'dial 167772167', { baseUrl: 'http://167772167/' }, 'dial ***'],
    ['a host that is an IPv6 address', 'dial [fd00::7]:80', { baseUrl: 'http://[fd00::7]:80' }, 'dial ***'],
    ['a password in the address', 'bad hunter22', { baseUrl: 'https://me:hunter22@u.example' }, 'bad ***'],
    [
      'an account in the address',
      'in 0af1b2c3d4e5f60718',
      { baseUrl: 'https://u.example/0af1b2c3d4e5f60718/x' },
      'in ***',
    ],
    [
      'the proxy',
      'p.example says: smith77 or s3cret',
      { proxy: 'http://smith77:s3cret@p.example:3128' },
      '*** says: *** or ***',
    ],
    ['a proxy that cannot be read', 'via gate.example', { proxy: 'http://gate.example:port' }, 'via ***'],
  ])('about a channel does not contain %s', (_what, message, changed, expected) =>
    expect(shown(message, changed)).toBe(expected),
  );

  test('keeps everything else', () => {
    const message =
      'temperature must be at most 2.0 for claude-3-5-sonnet-20241022 (got 2.5), e.g. 0.5, at 12:30:45; ' +
      'std::vector, messages.0.content: max_tokens:4096, org-1, req_0123456789abcdef0123456789abcdef';
    expect(shown(message, { key: 'k', baseUrl: 'http://10.0.0.5:8000' })).toBe(message);
    expect(shown('the upstream said no', { key: '', baseUrl: 'http://upstreams:8000' })).toBe('the upstream said no');
  });

  test('is cut where it is endless, and never blocks', () => {
    for (const piece of ['x', 'a.', 'a:', 'http', '-', '*', '::', 'sk-', '1.'])
      expect(shown(piece.repeat(1_000_000)).length).toBeLessThanOrEqual(2000);
  });

  test('contains no control characters and no broken characters', () => {
    expect(shown('a\u0000b\u001b[31mc\ud800d\u202ee\nf')).toBe('a b [31mc d e\nf');
    expect(withoutSecrets('🙂🙂', channel, 3)).toBe('🙂 ');
  });
});

describe('the type, code and param of a failure', () => {
  const expected = (changed: object) =>
    asUpstreamError({ message: 'm', type: null, code: null, param: null, ...changed }, 400, channel);

  test.each([
    'invalid_request_error',
    'BadRequestError',
    'Bad Request',
    'InvalidParameter.DataInspection',
    '1113',
    '514',
    'o1_not_found',
    'error-429',
  ])('%s is passed on unchanged', (word) =>
    expect(expected({ type: word, code: word })).toMatchObject({ type: word, code: word }),
  );

  test.each(['messages', 'messages[0].content', 'tools.0.function/name', '$.stream'])('%s is a member', (param) =>
    expect(expected({ type: 'a', param })).toMatchObject({ param }),
  );

  test.each([
    channel.key,
    channel.key.slice(3),
    'eu.api.provider.example',
    'https://eu.api.provider.example/v1',
    'provider.example',
    '10.0.0.7',
    'fd00::1',
    'a'.repeat(200),
    'a1b2c3d4e5',
    'no <b>markup</b>',
    'key="x"',
    'line\nend',
  ])('%j is omitted', (word) =>
    expect(expected({ type: word, code: word, param: `${word}\u0000` })).toMatchObject({
      type: 'upstream_error',
      code: null,
      param: null,
    }),
  );
});

test('no spelling of a secret is disclosed in a failure', () => {
  const digits = fc.string({
    unit: fc.constantFrom(...'abcdefghijkmnpqrstuvwxyzABCDEFGH23456789-_'),
    minLength: 16,
    maxLength: 48,
  });
  const secret = digits.map((text) => `Q7${text}x9`);
  const spelling = fc.constantFrom<(text: string) => string>(
    (text) => text,
    (text) => text.slice(3),
    (text) => text.slice(0, 14),
    (text) => text.toUpperCase(),
    (text) => encodeURIComponent(text),
    (text) => Buffer.from(text).toString('base64'),
    (text) => Buffer.from(text).toString('base64url'),
    (text) => Buffer.from(`user:${text}`).toString('base64'),
    (text) => Buffer.from(text).toString('hex'),
    (text) => `Basic ${Buffer.from(`${text}:`).toString('base64')}`,
  );
  const field = fc.constantFrom<(text: string) => Partial<Confidential>>(
    (key) => ({ key }),
    (key) => ({ key: `AKIA77|${key}|eu-west-1` }),
    (organization) => ({ organization }),
    (other) => ({ other: `${other}-${other}` }),
    (password) => ({ proxy: `socks5://u:${encodeURIComponent(password)}@10.0.0.9:1080` }),
    (path) => ({ baseUrl: `https://u.example/${path}/v1` }),
  );
  fc.assert(
    fc.property(secret, spelling, field, fc.constantFrom('', 'key=', '"', '/'), (text, spell, hide, before) => {
      const repeated = spell(text);
      const said = `wrong: ${before}${repeated}`;
      const error = asUpstreamError({ message: said, type: said, code: repeated, param: repeated }, 401, {
        ...channel,
        ...hide(text),
      });
      const seen = JSON.stringify(error).toLowerCase();
      // What is left of it is shorter than any piece worth having.
      for (let at = 0; at + 12 <= repeated.length; at++)
        expect(seen).not.toContain(repeated.slice(at, at + 12).toLowerCase());
    }),
    { numRuns: 2000 },
  );
});
