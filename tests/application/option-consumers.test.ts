import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { initialOptions } from '../../src/application/options/initial-options.js';
import { type Settings, settingsFrom } from '../../src/application/options/settings.js';
import { defaultPrices } from '../../src/application/prices/default-prices.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import {
  type Fixed,
  fixedBecause,
  hasEffect,
  type OptionDefinition,
  type OptionKey,
  optionTable,
} from '../../src/domain/options/option-table.js';
import { checkOption } from '../../src/domain/options/option-values.js';

/* Every option acts, and here is named who acts by it; or it stays as it is, and says why. */

type FixedKey = {
  [Key in OptionKey]: (typeof optionTable)[Key] extends { readonly fixed: Fixed } ? Key : never;
}[OptionKey];

/**
 * The source that acts by an option. It names the option itself, unless it reads `settings.…`, which the option then
 * changes, or the console's `status.…`, which the option then is.
 */
type Consumer = readonly [source: string, reads?: `settings.${string}` | `status.${string}`];

const signInMethods = ['src/application/sign-in/sign-in-methods.ts'] as const;
const prices = (table: string): Consumer => ['src/domain/pricing/price-tables.ts', `settings.prices.${table}`];
const gemini = (source: string, member: string): Consumer => [
  `src/relay/protocols/gemini/${source}`,
  `settings.gemini.${member}`,
];
const midjourney = (source: string, member: string): Consumer => [source, `settings.midjourney.${member}`];
const mail: Consumer = ['src/bootstrap/open-outbound.ts', 'settings.mail'];
const rateLimit = (member: string): Consumer => [
  'src/relay/admission/rate-limit.ts',
  `settings.modelRateLimit.${member}`,
];
const words: Consumer = ['src/relay/pipeline/resolution.ts', 'settings.sensitiveWords'];

const consumers: Readonly<Record<Exclude<OptionKey, FixedKey>, Consumer>> = {
  PasswordLoginEnabled: ['src/application/sign-in/sign-in.ts', 'settings.passwordLogin'],
  PasswordRegisterEnabled: ['src/application/users/registering.ts'],
  RegisterEnabled: ['src/application/users/registering.ts'],
  EmailVerificationEnabled: ['src/application/users/registering.ts'],
  EmailDomainRestrictionEnabled: ['src/domain/user/email.ts', 'settings.emailRules.domains'],
  EmailAliasRestrictionEnabled: ['src/domain/user/email.ts', 'settings.emailRules.withoutAliases'],
  EmailDomainWhitelist: ['src/domain/user/email.ts', 'settings.emailRules.domains'],
  TurnstileCheckEnabled: signInMethods,
  TurnstileSiteKey: signInMethods,
  TurnstileSecretKey: ['src/bootstrap/open-outbound.ts'],
  GitHubOAuthEnabled: signInMethods,
  GitHubClientId: ['src/identity-providers/github.ts'],
  GitHubClientSecret: ['src/identity-providers/github.ts'],
  LinuxDOOAuthEnabled: signInMethods,
  LinuxDOClientId: ['src/identity-providers/linuxdo.ts'],
  LinuxDOClientSecret: ['src/identity-providers/linuxdo.ts'],
  'oidc.enabled': signInMethods,
  'oidc.client_id': ['src/identity-providers/oidc.ts'],
  'oidc.client_secret': ['src/identity-providers/oidc.ts'],
  'oidc.well_known': ['src/identity-providers/oidc.ts'],
  'oidc.authorization_endpoint': ['src/identity-providers/oidc.ts'],
  'oidc.token_endpoint': ['src/identity-providers/oidc.ts'],
  'oidc.user_info_endpoint': ['src/identity-providers/oidc.ts'],
  WeChatAuthEnabled: signInMethods,
  WeChatServerAddress: ['src/identity-providers/wechat.ts'],
  WeChatServerToken: ['src/identity-providers/wechat.ts'],
  WeChatAccountQRCodeImageURL: ['web/src/kit/identity-providers/WeChatDialog.tsx', 'status.wechatQrCode'],
  TelegramOAuthEnabled: signInMethods,
  TelegramBotToken: ['src/identity-providers/identity-providers.ts'],
  TelegramBotName: signInMethods,
  SMTPServer: mail,
  SMTPPort: mail,
  SMTPAccount: mail,
  SMTPFrom: mail,
  SMTPToken: ['src/bootstrap/open-outbound.ts'],
  SMTPSSLEnabled: mail,
  ServerAddress: ['src/payments/payment-setting.ts'],
  WorkerUrl: ['src/application/notifications/webhook.ts'],
  WorkerValidKey: ['src/application/notifications/webhook.ts'],
  PayAddress: ['src/payments/epay.ts'],
  EpayId: ['src/payments/epay.ts'],
  EpayKey: ['src/payments/epay.ts'],
  CustomCallbackAddress: ['src/payments/payment-setting.ts'],
  StripeApiSecret: ['src/payments/stripe.ts'],
  StripeWebhookSecret: ['src/payments/stripe.ts'],
  StripeCurrency: ['src/payments/stripe.ts'],
  StripePrice: ['src/application/payments/top-up-terms.ts', 'settings.topUp.priceBy'],
  Price: ['src/application/payments/top-up-terms.ts', 'settings.topUp.priceBy'],
  MinTopUp: ['src/application/payments/begin-top-up.ts', 'settings.topUp.minimum'],
  TopupGroupRatio: ['src/application/payments/top-up-terms.ts', 'settings.topUp.groupRatio'],
  TopUpLink: ['web/src/wallet/RedeemSection.tsx', 'status.topUpLink'],
  Notice: ['web/src/home/HomePage.tsx', 'status.notice'],
  About: ['web/src/about/AboutPage.tsx', 'status.about'],
  HomePageContent: ['web/src/home/HomePage.tsx', 'status.homePage'],
  Footer: ['web/src/shell/Footer.tsx', 'status.footer'],
  Logo: ['web/src/shell/TopBar.tsx', 'status.logo'],
  SystemName: ['src/application/sign-in/password-reset.ts'],
  QuotaForNewUser: ['src/application/users/welcome.ts', 'settings.quotaForNewUser'],
  QuotaForInviter: ['src/application/users/welcome.ts', 'settings.quotaForInviter'],
  QuotaForInvitee: ['src/application/users/welcome.ts', 'settings.quotaForInvitee'],
  QuotaRemindThreshold: ['src/application/reactions/remind-of-quota.ts'],
  PreConsumedQuota: ['src/relay/metering/reservation-estimate.ts', 'settings.preConsumedTokens'],
  ModelMaxOutputTokens: ['src/relay/metering/reservation-estimate.ts', 'settings.maxOutputTokens'],
  DefaultMaxOutputTokens: ['src/relay/metering/reservation-estimate.ts', 'settings.defaultMaxOutputTokens'],
  LowerOutputLimitEnabled: ['src/relay/metering/reservation-estimate.ts', 'settings.lowersLimits'],
  UpstreamPromptTokens: ['src/relay/metering/reservation-estimate.ts', 'settings.upstreamPromptTokens'],
  QuotaPerUnit: prices('quotaPerUnit'),
  DisplayInCurrencyEnabled: ['src/application/quota-text.ts'],
  DisplayTokenStatEnabled: ['src/rest-compat/billing.ts'],
  ModelRatio: prices('modelRatio'),
  ModelPrice: prices('modelPrice'),
  CompletionRatio: prices('completionRatio'),
  CacheRatio: prices('cacheRatio'),
  ReasoningRatio: prices('reasoningRatio'),
  ImageOutputRatio: prices('imageOutputRatio'),
  ContextTiers: prices('contextTiers'),
  ServiceTiers: prices('serviceTiers'),
  ToolPrice: ['src/domain/pricing/tool-prices.ts', 'settings.prices.toolPrice'],
  NearestFamilyPriceEnabled: ['src/domain/pricing/price-tables.ts', 'settings.prices.nearest'],
  PriceSources: ['src/application/prices/published-sources.ts'],
  GroupRatio: prices('groupRatio'),
  UserUsableGroups: ['src/relay/pipeline/call-group.ts', 'settings.usableGroups'],
  RootKeepsChannelKeys: ['src/application/channels/edit-channels.ts'],
  'general_setting.keep_upstream': ['src/relay/pipeline/kept/kept-call.ts', 'settings.keepsUpstream'],
  'general_setting.kept_upstream_days': ['src/bootstrap/open-relay-calls.ts', 'settings.keptDays'],
  'general_setting.store_responses': ['src/application/responses/stored-responses.ts', 'settings.storesResponses'],
  'general_setting.stored_response_days': [
    'src/application/responses/stored-responses.ts',
    'settings.storedResponseDays',
  ],
  'general_setting.open_tasks_per_user': ['src/relay/pipeline/tasks/task-slot.ts', 'settings.openTasksPerUser'],
  'general_setting.stored_response_megabytes': [
    'src/application/responses/stored-responses.ts',
    'settings.storedResponseMegabytes',
  ],
  RetryTimes: ['src/relay/pipeline/attempt.ts', 'settings.retryTimes'],
  ChannelDisableThreshold: ['src/application/channels/channel-test-run.ts'],
  AutomaticDisableChannelEnabled: ['src/relay/pipeline/attempt.ts', 'settings.autoDisable'],
  AutomaticEnableChannelEnabled: ['src/application/channels/channel-test-run.ts'],
  AutomaticDisableKeywords: ['src/relay/pipeline/channels/channel-health.ts', 'settings.autoDisable.keywords'],
  LogConsumeEnabled: ['src/projections/models/usage-log/usage-log.ts'],
  DataExportEnabled: ['web/src/shell/pages.tsx', 'status.dashboard'],
  // For clients of the legacy interface.
  DataExportDefaultTime: ['src/rest-compat/status.ts'],
  DefaultCollapseSidebar: ['web/src/shell/Layout.tsx', 'status.collapseSidebar'],
  DrawingEnabled: ['web/src/shell/pages.tsx', 'status.drawing'],
  TaskEnabled: ['web/src/shell/pages.tsx', 'status.tasks'],
  MjNotifyEnabled: midjourney('src/relay/protocols/midjourney/submit-request.ts', 'notifies'),
  MjAccountFilterEnabled: midjourney('src/relay/protocols/midjourney/submit-request.ts', 'takesAccountFilter'),
  MjModeClearEnabled: midjourney('src/relay/protocols/midjourney/submit-request.ts', 'clearsModes'),
  MjForwardUrlEnabled: midjourney('src/relay/dialects/midjourney/written-task.ts', 'forwardsPictures'),
  MjActionCheckSuccessEnabled: midjourney('src/relay/dialects/midjourney/submit.ts', 'checksParent'),
  CheckSensitiveEnabled: words,
  CheckSensitiveOnPromptEnabled: words,
  SensitiveWords: words,
  Chats: ['web/src/chat/ChatPage.tsx', 'status.chats'],
  DemoSiteEnabled: ['web/src/shell/TopBar.tsx', 'status.demoSite'],
  SelfUseModeEnabled: ['src/relay/pipeline/call-checks.ts', 'settings.selfUseMode'],
  ModelRequestRateLimitEnabled: rateLimit('enabled'),
  ModelRequestRateLimitCount: rateLimit('total'),
  ModelRequestRateLimitSuccessCount: rateLimit('successful'),
  ModelRequestRateLimitDurationMinutes: rateLimit('windowSeconds'),
  'gemini.safety_settings': gemini('request.ts', 'safety'),
  'gemini.version_settings': gemini('gemini.ts', 'versions'),
  'gemini.supported_imagine_models': gemini('request.ts', 'imageModels'),
  'gemini.thinking_adapter_enabled': gemini('request.ts', 'thinkingAdapter'),
  'gemini.thinking_adapter_budget_tokens_percentage': gemini('request.ts', 'thinkingShare'),
  'claude.model_headers_settings': ['src/relay/protocols/anthropic/headers.ts', 'settings.claude.headers'],
  'claude.default_max_tokens': ['src/relay/protocols/anthropic/request.ts', 'settings.claude.defaultMaxTokens'],
  'claude.prompt_caching_enabled': ['src/relay/protocols/anthropic/request.ts', 'settings.claude.cachesPrompts'],
  'claude.thinking_adapter_enabled': ['src/relay/protocols/anthropic/request.ts', 'settings.claude.thinkingAdapter'],
  'claude.thinking_adapter_budget_tokens_percentage': [
    'src/relay/protocols/anthropic/request.ts',
    'settings.claude.thinkingShare',
  ],
  'global.pass_through_request_enabled': [
    'src/relay/pipeline/channels/upstream-channel.ts',
    'settings.passThroughRequests',
  ],
  'general_setting.docs_link': ['web/src/shell/TopLinks.tsx', 'status.docsLink'],
  'general_setting.admin_second_factor': ['src/application/sign-in/identity-ports.ts', 'settings.adminSecondFactor'],
  'general_setting.ping_interval_enabled': ['src/relay/pipeline/reserve.ts', 'settings.pingIntervalMs'],
  'general_setting.ping_interval_seconds': ['src/relay/pipeline/reserve.ts', 'settings.pingIntervalMs'],
  'general_setting.stream_open_seconds': ['src/relay/pipeline/reserve.ts', 'settings.streamOpenMs'],
  'general_setting.api_key_concurrency': ['src/relay/admission/call-limits.ts', 'settings.apiKeyConcurrency'],
  'general_setting.responses_websocket': [
    'src/relay/dialects/openai/responses-socket/sockets.ts',
    'settings.responsesOverWebSocket',
  ],
  'general_setting.session_affinity': ['src/relay/pipeline/attempt.ts', 'settings.sessionAffinity'],
  'general_setting.seal_head_delivery': ['src/application/seals/send-seal-heads.ts'],
  'general_setting.seal_head_address': ['src/application/notifications/deliver-seal-head.ts'],
  'general_setting.seal_head_secret': ['src/application/notifications/deliver-seal-head.ts'],
  'general_setting.seal_head_hours': ['src/application/seals/send-seal-heads.ts'],
  'general_setting.low_channel_balance': ['src/application/channels/channel-balances.ts'],
  'general_setting.log_retention_days': ['src/application/reactions/log-retention.ts'],
  'general_setting.api_keys_per_user': ['src/application/api-keys/issue-api-key.ts', 'settings.maxApiKeys'],
};

const definitions = Object.entries(optionTable) as [OptionKey, OptionDefinition][];
const fixed = definitions.flatMap(([key, { initial, fixed: because }]) =>
  because === undefined ? [] : [{ key, initial, because }],
);

/** A value that the option does not hold at first, and may hold. */
function anotherOf(key: OptionKey): string {
  const definition: OptionDefinition = optionTable[key];
  switch (definition.kind) {
    case 'boolean':
      return definition.initial === 'true' ? 'false' : 'true';
    case 'integer':
    case 'number':
      return String(Number(definition.initial) === definition.minimum ? definition.minimum + 1 : definition.minimum);
    case 'ratios':
    case 'counts':
      return '{"sample":3}';
    case 'texts':
      return '{"sample":"3"}';
    case 'json-object':
      if (definition.of === 'context-tiers') return '{"sample":[{"over":3,"input":2}]}';
      if (definition.of === 'service-tiers') return '{"sample":{"priority":2}}';
      return key === 'claude.default_max_tokens' ? '{"sample":3}' : '{"sample":{"name":["value"]}}';
    case 'json-array':
      return '["sample"]';
    case 'choice':
      return definition.choices.find((choice) => choice !== definition.initial) ?? '';
    case 'text':
    case 'secret':
      return 'sample';
  }
}

const builtIn = defaultPrices(Instant(Date.UTC(2026, 10, 28)));
/** With everything switched on and filled in that others need before they say anything. */
const switchedOn: readonly (readonly [OptionKey, string])[] = [
  ...definitions.flatMap(([key, { kind }]) => (kind === 'boolean' ? [[key, 'true'] as const] : [])),
  ['SMTPServer', 'smtp.example'],
  ['SMTPAccount', 'gate@mail.example'],
  ['EmailDomainWhitelist', 'mail.example'],
];
const settingsWith = (key: OptionKey, value: string): Settings =>
  settingsFrom(new Map([...switchedOn, [key, value]]), builtIn, initialOptions(builtIn));

const memberAt = (settings: Settings, path: string): string =>
  inspect(
    path.split('.').reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>>)[name], settings),
    { depth: null, maxArrayLength: null, maxStringLength: null },
  );

const sourceOf = (path: string): string => readFileSync(path, 'utf8');
const names = (text: string, name: string): boolean => new RegExp(`\\b${name.replaceAll('.', '\\.')}\\b`).test(text);

describe('an option that has an effect', () => {
  test('has a consumer, or is fixed', () => {
    const keys = definitions.map(([key]) => key);
    expect([...Object.keys(consumers), ...fixed.map(({ key }) => key)].sort()).toEqual(keys.sort());
  });

  test.each(Object.entries(consumers) as [OptionKey, Consumer][])('%s', (key, [source, reads]) => {
    expect(hasEffect(key)).toBe(true);
    const text = sourceOf(source);
    if (reads === undefined) {
      expect(names(text, key), `${source} names it`).toBe(true);
      return;
    }
    const [from, ...path] = reads.split('.');
    expect(names(text, path.at(-1) ?? ''), `${source} reads ${reads}`).toBe(true);
    if (from === 'status') {
      const named = new RegExp(`\\b${path[0]}: .*'${key.replaceAll('.', '\\.')}'`);
      expect(sourceOf('src/graphql/system/status.ts')).toMatch(named);
      return;
    }
    const isOn = switchedOn.find(([name]) => name === key)?.[1];
    const [one, other] = [isOn ?? optionTable[key].initial, isOn === 'true' ? 'false' : anotherOf(key)];
    const [before, after] = [one, other].map((value) => memberAt(settingsWith(key, value), path.join('.')));
    expect(after, `${reads} follows it`).not.toEqual(before);
  });
});

describe('a fixed option', () => {
  test.each(fixed)('$key refuses any other value, with the reason', ({ key, initial, because }) => {
    expect(() => checkOption(key, initial)).not.toThrow();
    expect(() => checkOption(key, anotherOf(key))).toThrow(
      expect.objectContaining({ code: 'option-fixed', details: { field: key, allowed: initial, because } }),
    );
  });

  test('is a known option', () => {
    expect(fixedBecause('SomethingElse')).toBeNull();
    expect(hasEffect('SomethingElse')).toBe(false);
  });
});
