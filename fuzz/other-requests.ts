import fc from 'fast-check';
import type { FuzzRequest } from './request.js';
import { encoded, hostileText } from './values.js';

/* What is left of the port: the console's files and addresses, files of a month, and what comes over a WebSocket. */

const paths = fc.oneof(
  fc.constantFrom(
    '/',
    '/login',
    '/assets/../index.html',
    '/assets/%2e%2e/index.html',
    '/assets/..%2f..%2fpackage.json',
    '//evil.example/',
    '/%',
    '/%00',
    '/index.html?%',
    '/.env',
    '/channel?open=%ud800',
  ),
  hostileText.map((text) => `/${encoded(text.slice(0, 2_000))}`),
);

export const pageRequests: fc.Arbitrary<FuzzRequest> = fc
  .record({ path: paths, method: fc.constantFrom('GET', 'GET', 'HEAD', 'POST', 'DELETE') })
  .map(({ path, method }) => ({ face: 'pages', method, path, as: 'nobody', headers: {}, body: null }));

const month = new Date().toISOString().slice(0, 7);
/** Mostly what is served: beyond the parameters there is something to break as well. */
const oneOf = (...served: readonly string[]) => ({ weight: 4, arbitrary: fc.constantFrom(...served) });
const parameters = fc.record(
  {
    month: fc.oneof(oneOf(month, '2020-01'), fc.constantFrom('2019-12', '9999-12', '2026-13', '-1', ''), hostileText),
    zone: fc.oneof(oneOf('UTC', 'Asia/Kathmandu', 'Etc/GMT+12'), fc.constantFrom('+05:17', 'posixrules'), hostileText),
    user: fc.oneof(oneOf('1', '2'), fc.constantFrom('999999999999999', '0', '1.5', '1e3'), hostileText),
  },
  { requiredKeys: [] },
);
const separators = fc.constantFrom('&', '&', '&', '&month=&', '&zone[]=&', '&user=1&user=2&');

export const exportRequests: fc.Arbitrary<FuzzRequest> = fc
  .record({
    file: fc.constantFrom('usage.csv', 'statement.csv'),
    parameters,
    separator: separators,
    method: fc.constantFrom('GET', 'GET', 'GET', 'GET', 'GET', 'GET', 'HEAD', 'POST'),
    as: fc.constantFrom('nobody', 'ordinary', 'admin', 'root') as fc.Arbitrary<FuzzRequest['as']>,
  })
  .map(({ file, parameters: given, separator, method, as }) => ({
    face: 'export',
    method,
    path: `/export/${file}?${Object.entries({ month, ...given })
      .map(([name, value]) => `${name}=${encoded(value.slice(0, 2_000))}`)
      .join(separator)}`,
    as,
    headers: {},
    body: null,
  }));

const init = JSON.stringify({ type: 'connection_init', payload: {} });
const subscribe = (query: string, id = '1'): string => JSON.stringify({ id, type: 'subscribe', payload: { query } });

const messages = fc.oneof(
  fc.constantFrom(
    init,
    subscribe('subscription { balance { available } }'),
    subscribe('subscription { usageFeed { id } }', '2'),
    subscribe('{ me { id } }', '3'),
    subscribe('subscription {', '4'),
    subscribe(`subscription { ${'liveTraffic { __typename } '.repeat(300)} }`, '5'),
    JSON.stringify({ type: 'ping' }),
    JSON.stringify({ id: '1', type: 'complete' }),
    JSON.stringify({ id: 1, type: 'subscribe' }),
    JSON.stringify({ type: 'connection_init', payload: 'x' }),
    '[]',
    'null',
    '{',
  ),
  hostileText,
);

/** A body's lines are the frames, sent in order. */
export const socketRequests: fc.Arbitrary<FuzzRequest> = fc
  .record({
    frames: fc.array(messages, { minLength: 1, maxLength: 8 }),
    begin: fc.boolean(),
    as: fc.constantFrom('nobody', 'ordinary', 'root') as fc.Arbitrary<FuzzRequest['as']>,
  })
  .map(({ frames, begin, as }) => ({
    face: 'socket',
    method: 'GET',
    path: '/graphql',
    as,
    headers: {},
    body: Buffer.from((begin ? [init, ...frames] : frames).map((frame) => frame.replaceAll('\n', ' ')).join('\n')),
  }));
