import fc from 'fast-check';

/* What a hostile caller puts where a value is expected. */

const long = (size: number): string => 'a'.repeat(size);

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 2, arbitrary: fc.string({ maxLength: 20 }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '',
      ' ',
      '\0',
      'a\0b',
      '\ud800',
      '\udfff',
      '\ufffd',
      '\u202eadmin',
      '\u0430dmin',
      'ａｄｍｉｎ',
      '%',
      '_',
      '%25%00',
      "'; DROP TABLE events; --",
      '" OR ""="',
      '$1',
      '{{7*7}}',
      '<img src=x onerror=alert(1)>',
      '../../../etc/passwd',
      'gpt-4-gizmo-../../admin?x=1#',
      '__proto__',
      'constructor',
      'NaN',
      'Infinity',
      '-1',
      '9007199254740993',
      '1e309',
      'null',
      'undefined',
      'true',
      '[]',
      '{}',
      'http://169.254.169.254/latest/meta-data',
      'http://[::1]/',
      'data:image/png;base64,AAAA',
      nested(200),
      nested(20_000),
      long(300),
      long(10_000),
      long(70_000),
    ),
  },
);

export const hostileNumber: fc.Arbitrary<number> = fc.oneof(
  fc.integer({ min: -3, max: 30 }),
  fc.constantFrom(
    0,
    -0,
    -1,
    0.1,
    2 ** 31 - 1,
    2 ** 31,
    -(2 ** 31) - 1,
    2 ** 32,
    2 ** 53 - 1,
    2 ** 53,
    -(2 ** 53),
    1e21,
    1e308,
    5e-324,
  ),
  fc.double({ noNaN: true }),
);

/** Any JSON, with what is odd preferred. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: hostileText },
  { weight: 4, arbitrary: hostileNumber },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(null, true, false, [], {}, [null], { '': '' }, [[[[]]]]) },
  { weight: 1, arbitrary: fc.array(fc.oneof(hostileText, hostileNumber), { maxLength: 12 }) },
  { weight: 1, arbitrary: fc.dictionary(hostileText, fc.oneof(hostileText, hostileNumber), { maxKeys: 6 }) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 4 }).map((text) => JSON.parse(text) as unknown) },
);

/** Mostly what is expected, so that the request gets past the first check; now and then anything. */
export const mostly = <Value>(expected: fc.Arbitrary<Value>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 14, arbitrary: expected }, { weight: 1, arbitrary: hostileValue });

/** As a part of an address; half a surrogate pair has no encoding. */
export const encoded = (text: string): string => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'));
