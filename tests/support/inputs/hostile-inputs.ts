import fc from 'fast-check';
import type { ApiKeyTerms } from '../../../src/domain/api-key/api-key-terms.js';
import type { ChannelSettings } from '../../../src/domain/channel/channel-settings.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import type { Quota } from '../../../src/domain/kernel/quota.js';
import { budgetPeriods } from '../../../src/domain/ledger/budget.js';

/* What somebody hostile might send through any face, mixed with what is accepted, for property tests. */

const hostileText = fc.oneof(
  fc.constantFrom('', 'a', '\0', 'a\0b', '\ufffd', '\ud800', '\udc00\ud800', '\u202eabc', '\u200b'),
  fc.constantFrom('ſ', 'Ａdmin', 'İ', '😀', "'; drop table users; --", '%_\\'),
  fc.constantFrom('{}', '[]', '"\\u0000"', '{"a":"\\u0000"}', '{"a":"\\ud800"}', '{"a":1e999}', 'null'),
  fc
    .tuple(fc.constantFrom('x', 'é', '😀', '\ufffd'), fc.constantFrom(64, 65, 256, 3_000, 9_000, 300_000))
    .map(([unit, times]) => unit.repeat(times)),
  fc.string({ unit: 'binary', maxLength: 40 }),
);

/** Of many fields most are good, so that it is the hostile one which is judged. */
export const text = (good: string): fc.Arbitrary<string> =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(good) }, { weight: 1, arbitrary: hostileText });

/** For orders of a single text, which most often is hostile. */
export const anyText = (good: string): fc.Arbitrary<string> =>
  fc.oneof({ weight: 1, arbitrary: fc.constant(good) }, { weight: 2, arbitrary: hostileText });

export const hostileNumber: fc.Arbitrary<number> = fc.oneof(
  fc.constantFrom(0, -0, 1, -1, 0.5, 2 ** 31 - 1, 2 ** 31, -(2 ** 31) - 1, 2 ** 32, 2 ** 53 - 1, 1 - 2 ** 53, 2 ** 53),
  fc.constantFrom(2 ** 63, 1e300, -1e300, 5e-324, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
  fc.maxSafeInteger(),
);

export const number = (good: number): fc.Arbitrary<number> =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(good) }, { weight: 1, arbitrary: hostileNumber });

const texts = (good: string): fc.Arbitrary<readonly string[]> =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constant([good]) },
    { weight: 1, arbitrary: fc.array(anyText(good), { maxLength: 4 }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        [good, good],
        ['a\0', 'a\ufffd'],
        Array.from({ length: 2_000 }, (_, n) => `m${n}`),
      ),
    },
  );

export const orNull = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> => fc.option(value, { freq: 3 });

export const hostileChannelSettings: fc.Arbitrary<ChannelSettings> = fc.record({
  name: text('channel'),
  type: number(1),
  baseUrl: text('http://127.0.0.1:1'),
  models: texts('gpt-4o'),
  groups: texts('default'),
  priority: number(0),
  weight: number(0),
  tag: orNull(text('tag')),
  modelMapping: orNull(text('{"a":"b"}')),
  statusCodeMapping: text(''),
  paramOverride: orNull(text('{"a":1}')),
  setting: orNull(text('{"a":1}')),
  other: text(''),
  organization: orNull(text('org')),
  testModel: orNull(text('gpt-4o')),
  autoBan: fc.boolean(),
  maxInputTokens: number(0),
});

export const hostileApiKeyTerms: fc.Arbitrary<ApiKeyTerms> = fc.record({
  name: text('key'),
  unlimited: fc.boolean(),
  expiresAt: orNull(fc.oneof(fc.constant(4_000_000_000_000), fc.maxSafeInteger()).map(Instant)),
  modelLimitsEnabled: fc.boolean(),
  modelLimits: texts('gpt-4o'),
  allowIps: texts('10.0.0.1'),
  group: text('default'),
  budget: orNull(
    fc.record({ quota: number(500_000).map((quota) => quota as Quota), period: fc.constantFrom(...budgetPeriods) }),
  ),
  modelAliases: fc.oneof(
    fc.constant([]),
    fc.array(fc.record({ name: text('claude-*'), model: text('gpt-4o') }), { maxLength: 60 }),
  ),
});
