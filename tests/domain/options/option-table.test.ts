import { describe, expect, test } from 'vitest';
import { decimal } from '../../../src/domain/kernel/decimal.js';
import { Failure } from '../../../src/domain/kernel/failure.js';
import {
  hasEffect,
  isSecretOption,
  type OptionKey,
  optionDefinition,
  optionTable,
  prerequisiteOf,
} from '../../../src/domain/options/option-table.js';
import { checkOption, emptiedOption, readRatios } from '../../../src/domain/options/option-values.js';

/** Of those that may be changed; what becomes of others, `tests/application/option-consumers.test.ts` says. */
const keysOf = (...kinds: readonly string[]): OptionKey[] =>
  (Object.keys(optionTable) as OptionKey[]).filter((key) => hasEffect(key) && kinds.includes(optionTable[key].kind));

const refusalOf = (check: () => void): Failure['details'] | null => {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof Failure && error.code === 'option-value-invalid') return error.details;
    throw error;
  }
};
const refused = (key: string, value: string) => refusalOf(() => checkOption(key, value));

describe('every option', () => {
  test.each(Object.entries(optionTable))('%s starts with a valid value', (key, { initial }) =>
    expect(refused(key, initial)).toBeNull(),
  );

  test.each(keysOf('boolean'))('%s is "true" or "false" and nothing else', (key) => {
    expect(refused(key, 'true')).toBeNull();
    expect(refused(key, 'false')).toBeNull();
    for (const value of ['', 'TRUE', '1', 'yes', ' true'])
      expect(refused(key, value)).toStrictEqual({ field: key, allowed: '"true" or "false"' });
  });

  test.each(keysOf('integer'))('%s is an integer', (key) => {
    for (const value of [' ', 'many', '1.5', '0x10', '1e400', 'NaN', 'Infinity', '9007199254740992'])
      expect(refused(key, value), value).toMatchObject({ field: key, allowed: expect.stringMatching(/^an integer/) });
  });

  test.each(keysOf('number'))('%s is a decimal number that prices can be computed with', (key) => {
    for (const value of [' ', 'many', '0x10', '.5', '5.', '1e400', 'NaN', 'Infinity', '-Infinity'])
      expect(refused(key, value), value).toMatchObject({ field: key, allowed: expect.stringMatching(/^a number/) });
    expect(() => decimal(optionTable[key].initial)).not.toThrow();
  });

  test.each(keysOf('integer', 'number'))('%s when emptied is zero, or never set where zero is not a value', (key) => {
    const zeroIsOne = refused(key, '0') === null;
    expect(emptiedOption(key)).toBe(zeroIsOne ? '0' : '');
    expect(refused(key, emptiedOption(key))).toBeNull();
    if (zeroIsOne) expect(refused(key, '')).not.toBeNull();
  });

  test.each(keysOf('ratios'))('%s is a JSON object of numbers from 0', (key) => {
    for (const value of ['', '{', '[]', 'null', '1', '"text"'])
      expect(refused(key, value), value).toStrictEqual({
        field: key,
        allowed: 'a JSON object of numbers from 0 by name',
      });
    for (const value of ['{"m":-1}', '{"m":"1"}', '{"m":null}', '{"m":1e999}', '{"m":{}}'])
      expect(refused(key, value), value).toStrictEqual({ field: `${key}.m`, allowed: 'a number from 0' });
    expect(refused(key, '{"m":0,"n":0.5,"o":1e-7}')).toBeNull();
  });

  test.each(keysOf('json-object'))('%s is a JSON object', (key) => {
    for (const value of ['', '{', '[]', 'null', '1'])
      expect(refused(key, value), value).toStrictEqual({ field: key, allowed: 'a JSON object' });
    expect(refused(key, '{}')).toBeNull();
  });

  test.each(keysOf('texts'))('%s is a JSON object of texts', (key) => {
    for (const value of ['', '{', '[]', 'null', '1'])
      expect(refused(key, value), value).toStrictEqual({ field: key, allowed: 'a JSON object of texts by name' });
    for (const value of ['{"m":1}', '{"m":null}', '{"m":{}}'])
      expect(refused(key, value), value).toStrictEqual({ field: `${key}.m`, allowed: 'a text' });
    expect(refused(key, '{}')).toBeNull();
    expect(refused(key, '{"m":""}')).toBeNull();
  });

  test.each(keysOf('json-array'))('%s is a JSON array', (key) => {
    for (const value of ['', '[', '{}', 'null', '1'])
      expect(refused(key, value), value).toStrictEqual({ field: key, allowed: 'a JSON array' });
    expect(refused(key, '[]')).toBeNull();
  });

  test.each([
    ['DataExportDefaultTime', 'hour, day, week'],
    ['general_setting.seal_head_delivery', 'off, webhook, mail, file'],
  ])('%s is one of its choices', (key, choices) =>
    expect(refused(key, 'sometimes')).toStrictEqual({ field: key, allowed: `one of ${choices}` }),
  );

  test('is tried where it is one of some choices', () =>
    expect(keysOf('choice')).toEqual(['DataExportDefaultTime', 'general_setting.seal_head_delivery']));

  test.each(keysOf('text', 'secret'))('%s may be any text', (key) => {
    expect(refused(key, '')).toBeNull();
    expect(refused(key, 'any: "text" <b>at</b> all')).toBeNull();
  });
});

describe('the limits of options', () => {
  test.each([
    ['RetryTimes', '0', '-1'],
    ['ModelRequestRateLimitCount', '0', '-1'],
    ['ModelRequestRateLimitSuccessCount', '1', '0'],
    ['ModelRequestRateLimitDurationMinutes', '0', '-1'],
    ['general_setting.ping_interval_seconds', '1', '0'],
    ['SMTPPort', '1', '0'],
    ['QuotaForNewUser', '0', '-1'],
    ['QuotaPerUnit', '0.5', '0'],
    ['Price', '0', '-0.1'],
    ['ChannelDisableThreshold', '0', '-1'],
    ['claude.thinking_adapter_budget_tokens_percentage', '0.1', '0.09'],
    ['claude.thinking_adapter_budget_tokens_percentage', '1', '1.01'],
    ['gemini.thinking_adapter_budget_tokens_percentage', '0.1', '0.09'],
    ['gemini.thinking_adapter_budget_tokens_percentage', '1', '1.01'],
  ])('include %s, which may be %s, not %s', (key, min, beyond) => {
    expect(refused(key, min)).toBeNull();
    expect(refused(key, beyond)).toMatchObject({ field: key });
  });

  test('are named in the error', () =>
    expect(refused('claude.thinking_adapter_budget_tokens_percentage', '2')).toStrictEqual({
      field: 'claude.thinking_adapter_budget_tokens_percentage',
      allowed: 'a number from 0.1 to 1',
    }));
});

describe('the defaults of the legacy contract', () => {
  test.each<[OptionKey, string]>([
    ['PasswordLoginEnabled', 'true'],
    ['RegisterEnabled', 'true'],
    ['EmailVerificationEnabled', 'false'],
    ['SMTPPort', '587'],
    ['Price', '7.3'],
    ['MinTopUp', '1'],
    ['QuotaForNewUser', '0'],
    ['QuotaRemindThreshold', '1000'],
    ['PreConsumedQuota', '500'],
    ['QuotaPerUnit', '500000'],
    ['DisplayInCurrencyEnabled', 'true'],
    ['RetryTimes', '0'],
    ['ChannelDisableThreshold', '5'],
    ['LogConsumeEnabled', 'true'],
    ['DataExportInterval', '5'],
    ['DataExportDefaultTime', 'hour'],
    ['ModelRequestRateLimitSuccessCount', '1000'],
    ['ModelRequestRateLimitDurationMinutes', '1'],
    ['SelfUseModeEnabled', 'false'],
    ['general_setting.ping_interval_seconds', '60'],
    ['claude.thinking_adapter_enabled', 'true'],
    ['claude.prompt_caching_enabled', 'true'],
    ['claude.thinking_adapter_budget_tokens_percentage', '0.8'],
    ['gemini.thinking_adapter_budget_tokens_percentage', '0.6'],
    ['GroupRatio', '{"default":1,"vip":1,"svip":1}'],
    ['UserUsableGroups', '{"default":"默认分组","vip":"vip分组"}'],
    ['claude.default_max_tokens', '{"default":8192}'],
  ])('set %s to %s', (key, initial) => expect(optionTable[key].initial).toBe(initial));

  test('disable a channel by seven phrases', () =>
    expect(optionTable.AutomaticDisableKeywords.initial.split('\n')).toHaveLength(7));
});

describe('an unknown option', () => {
  test('may have any text', () => expect(refused('MyOption', '{')).toBeNull());
  test('has no definition, even with a name that objects inherit', () => {
    expect(optionDefinition('MyOption')).toBeNull();
    expect(optionDefinition('constructor')).toBeNull();
    expect(prerequisiteOf('constructor')).toBeNull();
    expect(prerequisiteOf('MyOption')).toBeNull();
  });
});

describe('the secret options', () => {
  test.each([
    'SMTPToken',
    'TelegramBotToken',
    'WeChatServerToken',
    'GitHubClientSecret',
    'LinuxDOClientSecret',
    'TurnstileSecretKey',
    'EpayKey',
    'WorkerValidKey',
    'oidc.client_secret',
  ])('include %s: its value is never returned', (key) => expect(isSecretOption(key)).toBe(true));
  test.each(['MyToken', 'my.client_secret', 'SomeKey'])('include %s, which is unknown but named like a secret', (key) =>
    expect(isSecretOption(key)).toBe(true),
  );
  test.each(['TurnstileSiteKey', 'GitHubClientId', 'Notice', 'KeyNotice', 'MyOption'])(
    'exclude %s: its value is returned',
    (key) => expect(isSecretOption(key)).toBe(false),
  );
});

describe('the ratios of an option', () => {
  test('are read at their shortest decimal text', () =>
    expect(readRatios('ModelRatio', '{"a":0.10,"b":1e-7,"c":15,"d":-0}')).toStrictEqual(
      new Map([
        ['a', '0.1'],
        ['b', '1e-7'],
        ['c', '15'],
        ['d', '0'],
      ]),
    ));
  test('have any name, even one that objects inherit', () =>
    expect(readRatios('ModelRatio', '{"__proto__":2,"constructor":3}')).toStrictEqual(
      new Map([
        ['__proto__', '2'],
        ['constructor', '3'],
      ]),
    ));
});
