import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { FuzzRequest } from '../request.js';
import { callsMark } from './calls/meant.js';
import { formRequests } from './form-requests.js';
import { markOf } from './odd-answers.js';
import { jsonOf, pick, randomOf, spoilt } from './odd-json.js';
import { modelOfWire, requestsAsMeant } from './requests-as-meant.js';

/* Calls in every dialect to an upstream of every wire: right ones whose upstream is odd, and odd ones. */

/** A client as proxies report it, and as clients lie. */
const addresses = [
  ...['203.0.113.7:51234', '[2001:db8::7]:51234', '198.51.100.9:1, 127.0.0.1:80', '"[2001:db8::7]:1"', 'fe80::1%eth0'],
  ...[
    '::ffff:10.0.0.1',
    '[::ffff:7f00:1]:80',
    ' , ,',
    'unknown',
    '_hidden',
    '1.2.3',
    '01.02.03.04',
    '[',
    '999.1.1.1:1',
  ],
] as const;

const headers: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Record<string, string>>({ 'content-type': 'application/json' }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(...addresses).map((address) => ({
      'x-forwarded-for': address,
      forwarded: `for=${address};proto=https`,
      'x-real-ip': address,
    })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Record<string, string>>(
      {},
      ...['text/plain', 'application/json; charset=utf-16', 'application/vnd.api+json', ';', 'multipart/form-data'].map(
        (type) => ({ 'content-type': type }),
      ),
      { 'anthropic-beta': 'a,,b, a' },
      { 'x-stainless-helper-method': 'stream', accept: 'text/event-stream' },
    ),
  },
);

const oddRequests: fc.Arbitrary<FuzzRequest> = fc
  .record({
    seed: fc.nat(),
    wire: fc.constantFrom(...(['openai', 'anthropic', 'gemini'] as const)),
    stream: fc.boolean(),
    // The endpoints of conversations come first, and more often.
    endpoint: fc.oneof({ weight: 4, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: fc.nat(15) }),
    spoils: fc.constantFrom(0, 0, 1, 1, 2, 3),
    method: fc.oneof({ weight: 30, arbitrary: fc.constant('POST') }, { weight: 1, arbitrary: fc.constant('HEAD') }),
    zipped: fc.oneof({ weight: 30, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    headers,
  })
  .map(({ seed, wire, stream, endpoint, spoils, method, zipped, headers: more }) => {
    const random = randomOf(seed);
    const all = requestsAsMeant(modelOfWire[wire], markOf(seed), stream);
    const { path, body } = all[endpoint] ?? pick(random, all);
    const bytes = Buffer.from(jsonOf(spoilt(body, random, spoils)));
    return {
      face: 'dialect' as const,
      method,
      path,
      as: 'ordinary' as const,
      headers: { ...more, ...(zipped ? { 'content-encoding': 'x-gzip' } : {}) },
      body: method === 'HEAD' ? null : zipped ? gzipSync(bytes) : bytes,
    };
  });

/** Right requests whose upstream makes calls. */
const callRequests: fc.Arbitrary<FuzzRequest> = fc
  .record({
    seed: fc.nat(),
    wire: fc.constantFrom(...(['openai', 'openai', 'anthropic', 'gemini'] as const)),
    stream: fc.constantFrom(true, true, true, false),
    // Those of conversations.
    endpoint: fc.nat(3),
  })
  .map(({ seed, wire, stream, endpoint }) => {
    const { path, body } = pick(() => 0, requestsAsMeant(modelOfWire[wire], callsMark(seed), stream).slice(endpoint));
    return {
      face: 'dialect' as const,
      method: 'POST',
      path,
      as: 'ordinary' as const,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(jsonOf(body)),
    };
  });

export const dialectRequests: fc.Arbitrary<FuzzRequest> = fc.oneof(
  { weight: 6, arbitrary: oddRequests },
  { weight: 2, arbitrary: callRequests },
  { weight: 2, arbitrary: formRequests },
);
