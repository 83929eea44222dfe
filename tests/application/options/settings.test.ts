import { describe, expect, test } from 'vitest';
import { initialOptions } from '../../../src/application/options/initial-options.js';
import { type Settings, settingsFrom } from '../../../src/application/options/settings.js';
import type { DefaultPrices } from '../../../src/application/prices/default-prices.js';
import { type OptionKey, optionTable } from '../../../src/domain/options/option-table.js';
import { checkOption } from '../../../src/domain/options/option-values.js';
import { readServiceTiers } from '../../../src/domain/options/service-tier-option.js';
import { builtInServiceTiers } from '../../../src/domain/pricing/built-in/default-service-tiers.js';
import { unpricedSpeech } from '../../../src/domain/pricing/built-in/newer-prices.js';
import { noPrices } from '../../support/given/no-prices.js';

const defaults: DefaultPrices = {
  ...noPrices,
  modelRatio: new Map([['gpt-4o', '1.25']]),
  modelPrice: new Map([['dall-e-3', '0.04']]),
  completionRatio: new Map([['gpt-4-all', '2']]),
  cacheRatio: new Map([['gpt-4o', '0.5']]),
  cacheWriteRatio: new Map([['claude-2', '1.25']]),
  imageRatio: new Map([['gpt-image-1', '2']]),
  imageOutputRatio: new Map([['gemini-2.5-flash-image', '100']]),
};
const initial = initialOptions(defaults);
const settings = (changed: Partial<Record<OptionKey, string>> = {}): Settings =>
  settingsFrom(new Map(Object.entries(changed)), defaults, initial);

describe('the price of the nearest model', () => {
  const removed = (changed: Partial<Record<OptionKey, string>>, known: readonly string[] = []) =>
    settingsFrom(new Map(Object.entries({ NearestFamilyPriceEnabled: 'true', ...changed })), defaults, initial, {
      records: new Map(),
      known,
    }).prices.nearest?.removed;

  test('is not used unless the option permits it', () => expect(settings().prices).not.toHaveProperty('nearest'));
  test('is not used for speech that no built-in price covers, nor for models that the built-in table or a record prices', () => {
    const inTable = ['gpt-4o', 'dall-e-3'];
    expect(removed({ ModelRatio: '{}', ModelPrice: '{}' })).toEqual(new Set([...inTable, ...unpricedSpeech]));
    expect(removed({}, ['gone-model'])).toContain('gone-model');
  });
});

describe('unchanged settings', () => {
  test('have the values of the option table', () =>
    expect(settings()).toMatchObject({
      retryTimes: 0,
      preConsumedTokens: 500,
      quotaForNewUser: 0,
      selfUseMode: false,
      passThroughRequests: false,
      modelRateLimit: { enabled: false, total: 0, successful: 1000, windowSeconds: 60 },
      pingIntervalMs: null,
      streamOpenMs: 30_000,
      passwordLogin: true,
      siteAddress: '',
      sensitiveWords: ['test_sensitive'],
    }));
  test('have the default prices, and plain groups', () =>
    expect(settings().prices).toStrictEqual({
      ...defaults,
      records: new Map(),
      reasoningRatio: new Map(),
      serviceTiers: readServiceTiers(builtInServiceTiers),
      groupRatio: new Map([
        ['default', '1'],
        ['vip', '1'],
        ['svip', '1'],
      ]),
      toolPrice: new Map(
        Object.entries(JSON.parse(initial.get('ToolPrice') ?? '')).map(([name, usd]) => [name, String(usd)]),
      ),
      quotaPerUnit: '500000',
    }));
  test('have an initial text for every option, including default prices, and each is valid', () => {
    expect([...initial.keys()].sort()).toStrictEqual(Object.keys(optionTable).sort());
    for (const [key, value] of initial) expect(() => checkOption(key, value), key).not.toThrow();
    expect(JSON.parse(initial.get('ModelPrice') ?? '')).toStrictEqual({ 'dall-e-3': 0.04 });
  });
});

describe('a changed option', () => {
  test.each([
    ['https://gateway.example/v1/', 'https://gateway.example'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['https://user:secret@gateway.example', 'https://gateway.example'],
    ['gateway.example', ''],
    ['ftp://gateway.example', ''],
  ])('%s names the site %s', (ServerAddress, siteAddress) =>
    expect(settings({ ServerAddress }).siteAddress).toBe(siteAddress),
  );

  test('replaces a whole price table, and no other', () => {
    const { prices } = settings({ ModelRatio: '{"o1":7.5}', ReasoningRatio: '{"o1":6}', GroupRatio: '{"vip":0.8}' });
    expect(prices.modelRatio).toStrictEqual(new Map([['o1', '7.5']]));
    expect(prices.reasoningRatio).toStrictEqual(new Map([['o1', '6']]));
    expect(prices.groupRatio).toStrictEqual(new Map([['vip', '0.8']]));
    expect(prices.modelPrice).toBe(defaults.modelPrice);
    expect(prices.cacheRatio).toBe(defaults.cacheRatio);
  });
  test('may empty a price table', () => expect(settings({ ModelPrice: '{}' }).prices.modelPrice.size).toBe(0));
  test('sets the groups that users may choose', () =>
    expect(settings({ UserUsableGroups: '{"vip":"Reduced"}' }).usableGroups).toStrictEqual(
      new Map([['vip', 'Reduced']]),
    ));
  test('sets the phrases that disable a channel: trimmed, in lower case, without blank lines', () =>
    expect(
      settings({
        AutomaticDisableChannelEnabled: 'true',
        AutomaticDisableKeywords: ' Permission Denied \n\n NO credit\n',
      }).autoDisable,
    ).toStrictEqual({ enabled: true, keywords: ['permission denied', 'no credit'] }));
  test('sets the sensitive words, unless either switch is off', () => {
    expect(settings({ SensitiveWords: 'Foo\nBAR' }).sensitiveWords).toStrictEqual(['foo', 'bar']);
    expect(settings({ CheckSensitiveEnabled: 'false' }).sensitiveWords).toStrictEqual([]);
    expect(settings({ CheckSensitiveOnPromptEnabled: 'false' }).sensitiveWords).toStrictEqual([]);
  });
  test('sets the heartbeat interval of streams, in milliseconds, when it is on', () => {
    expect(settings({ 'general_setting.ping_interval_seconds': '5' }).pingIntervalMs).toBeNull();
    expect(
      settings({ 'general_setting.ping_interval_enabled': 'true', 'general_setting.ping_interval_seconds': '5' })
        .pingIntervalMs,
    ).toBe(5_000);
  });
  test.each([
    ['half a minute', {}, 30_000],
    ['the interval of heartbeats', { interval: '5' }, 5_000],
    ['half a minute where the interval is longer', { interval: '60' }, 30_000],
    ['the configured time', { interval: '5', open: '7' }, 7_000],
  ])('opens streams after %s', (_, { interval, open }: { interval?: string; open?: string }, after) =>
    expect(
      settings({
        ...(interval !== undefined && {
          'general_setting.ping_interval_enabled': 'true',
          'general_setting.ping_interval_seconds': interval,
        }),
        ...(open !== undefined && { 'general_setting.stream_open_seconds': open }),
      }).streamOpenMs,
    ).toBe(after),
  );
  test('sets the rate limit per model', () =>
    expect(
      settings({
        ModelRequestRateLimitEnabled: 'true',
        ModelRequestRateLimitCount: '20',
        ModelRequestRateLimitSuccessCount: '10',
        ModelRequestRateLimitDurationMinutes: '2',
      }).modelRateLimit,
    ).toStrictEqual({ enabled: true, total: 20, successful: 10, windowSeconds: 120 }));
  test.each<[OptionKey, keyof Settings]>([
    ['SelfUseModeEnabled', 'selfUseMode'],
    ['global.pass_through_request_enabled', 'passThroughRequests'],
    ['PasswordLoginEnabled', 'passwordLogin'],
    ['LowerOutputLimitEnabled', 'lowersLimits'],
  ])('%s is %s', (key, member) => {
    expect(settings({ [key]: 'true' })[member]).toBe(true);
    expect(settings({ [key]: 'false' })[member]).toBe(false);
  });
  test.each<[OptionKey, keyof Settings]>([
    ['RetryTimes', 'retryTimes'],
    ['PreConsumedQuota', 'preConsumedTokens'],
    ['QuotaForNewUser', 'quotaForNewUser'],
  ])('%s is %s', (key, member) => expect(settings({ [key]: '7' })[member]).toBe(7));
  test('is available as text, and as a switch', () => {
    const changed = settings({ Notice: 'hello', RegisterEnabled: 'false' });
    expect(changed.text('Notice')).toBe('hello');
    expect(changed.text('About')).toBe('');
    expect(changed.flag('RegisterEnabled')).toBe(false);
    expect(changed.flag('LogConsumeEnabled')).toBe(true);
    expect(changed.text('SMTPToken')).toBe('');
  });
});
