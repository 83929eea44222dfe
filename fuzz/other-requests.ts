import fc from 'fast-check';
import type { FuzzRequest } from './request.js';
import { encoded, hostileText } from './values.js';

/* What is left of the port: the console's files and addresses, and what comes over a WebSocket. */

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
