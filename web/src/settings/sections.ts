import type { SettingName } from './settingName.js';
import type { settingsZh } from './settings.zh.js';

/* What the settings consist of: which option stands where. What each may hold, the server says. */

export interface SettingField {
  readonly key: SettingName;
  /** `url`: it begins with http; `address`: the same, and ends without a slash; `quota`: also shown in money. */
  readonly holds?: 'url' | 'address' | 'domains' | 'quota';
}

type NamesBelow<Prefix extends string> = keyof typeof settingsZh extends infer Key
  ? Key extends `${Prefix}.${infer Name}`
    ? Name
    : never
  : never;

export interface SettingSection {
  readonly name: NamesBelow<'section'>;
  readonly fields: readonly SettingField[];
  /** Without it nothing here can work. */
  readonly needs?: SettingName;
  /** Its fields can be filled by asking the provider. */
  readonly fetches?: 'oidc';
  /** What it is about can be cleared. */
  readonly clears?: 'log';
}

const plain = (...keys: readonly SettingName[]): readonly SettingField[] => keys.map((key) => ({ key }));
const address = (key: SettingName): SettingField => ({ key, holds: 'address' });
const quota = (key: SettingName): SettingField => ({ key, holds: 'quota' });

/** Shown in three ways, over the whole width. */
export const priceSection: SettingSection = {
  name: 'prices',
  fields: plain(
    'ModelPrice',
    'ModelRatio',
    'CompletionRatio',
    'CacheRatio',
    'ReasoningRatio',
    'ImageOutputRatio',
    'ContextTiers',
    'ServiceTiers',
    'ToolPrice',
    'NearestFamilyPriceEnabled',
  ),
};

/** Shown beside what the sources say. */
export const priceSourceSection: SettingSection = { name: 'priceSources', fields: plain('PriceSources') };

const operation: readonly SettingSection[] = [
  {
    name: 'general',
    fields: plain(
      'TopUpLink',
      'general_setting.docs_link',
      'QuotaPerUnit',
      'RetryTimes',
      'DisplayInCurrencyEnabled',
      'DisplayTokenStatEnabled',
      'DefaultCollapseSidebar',
      'DemoSiteEnabled',
      'SelfUseModeEnabled',
    ),
  },
  {
    name: 'quota',
    fields: [
      quota('QuotaForNewUser'),
      quota('QuotaForInviter'),
      quota('QuotaForInvitee'),
      ...plain(
        'PreConsumedQuota',
        'ModelMaxOutputTokens',
        'DefaultMaxOutputTokens',
        'LowerOutputLimitEnabled',
        'UpstreamPromptTokens',
        'general_setting.api_keys_per_user',
      ),
    ],
  },
  {
    name: 'monitoring',
    fields: [
      { key: 'ChannelDisableThreshold' },
      quota('QuotaRemindThreshold'),
      ...plain(
        'general_setting.low_channel_balance',
        'AutomaticDisableChannelEnabled',
        'AutomaticEnableChannelEnabled',
        'AutomaticDisableKeywords',
        'RootKeepsChannelKeys',
      ),
    ],
  },
  {
    name: 'sensitive',
    fields: plain(
      'CheckSensitiveEnabled',
      'CheckSensitiveOnPromptEnabled',
      'CheckSensitiveOnCompletionEnabled',
      'StopOnSensitiveEnabled',
      'SensitiveWords',
      'StreamCacheQueueLength',
    ),
  },
  {
    name: 'log',
    clears: 'log',
    fields: plain(
      'LogConsumeEnabled',
      'general_setting.log_retention_days',
      'general_setting.seal_head_delivery',
      'general_setting.seal_head_address',
      'general_setting.seal_head_secret',
      'general_setting.seal_head_hours',
    ),
  },
  {
    name: 'dashboard',
    fields: plain('DataExportEnabled', 'DataExportInterval', 'DataExportDefaultTime'),
  },
  { name: 'chats', fields: plain('Chats') },
  { name: 'groups', fields: plain('GroupRatio', 'UserUsableGroups') },
  {
    name: 'drawing',
    fields: plain(
      'DrawingEnabled',
      'TaskEnabled',
      'MjNotifyEnabled',
      'MjAccountFilterEnabled',
      'MjForwardUrlEnabled',
      'MjModeClearEnabled',
      'MjActionCheckSuccessEnabled',
      'general_setting.open_tasks_per_user',
    ),
  },
  priceSection,
  priceSourceSection,
];

const rateLimit: readonly SettingSection[] = [
  {
    name: 'rateLimit',
    fields: plain(
      'ModelRequestRateLimitEnabled',
      'ModelRequestRateLimitDurationMinutes',
      'ModelRequestRateLimitCount',
      'ModelRequestRateLimitSuccessCount',
    ),
  },
  { name: 'concurrency', fields: plain('general_setting.api_key_concurrency') },
];

const models: readonly SettingSection[] = [
  {
    name: 'global',
    fields: plain(
      'global.pass_through_request_enabled',
      'general_setting.ping_interval_enabled',
      'general_setting.ping_interval_seconds',
      'general_setting.stream_open_seconds',
      'general_setting.session_affinity',
      'general_setting.responses_websocket',
      'general_setting.keep_upstream',
      'general_setting.kept_upstream_days',
      'general_setting.store_responses',
      'general_setting.stored_response_days',
      'general_setting.stored_response_megabytes',
    ),
  },
  {
    name: 'gemini',
    fields: plain(
      'gemini.safety_settings',
      'gemini.version_settings',
      'gemini.supported_imagine_models',
      'gemini.thinking_adapter_enabled',
      'gemini.thinking_adapter_budget_tokens_percentage',
    ),
  },
  {
    name: 'claude',
    fields: plain(
      'claude.model_headers_settings',
      'claude.default_max_tokens',
      'claude.prompt_caching_enabled',
      'claude.thinking_adapter_enabled',
      'claude.thinking_adapter_budget_tokens_percentage',
    ),
  },
];

const system: readonly SettingSection[] = [
  { name: 'address', fields: [address('ServerAddress')] },
  { name: 'worker', fields: [address('WorkerUrl'), { key: 'WorkerValidKey' }] },
  {
    name: 'payment',
    needs: 'ServerAddress',
    fields: [
      address('PayAddress'),
      ...plain('EpayId', 'EpayKey'),
      address('CustomCallbackAddress'),
      ...plain('Price', 'MinTopUp', 'TopupGroupRatio'),
    ],
  },
  {
    name: 'stripe',
    needs: 'ServerAddress',
    fields: plain('StripeApiSecret', 'StripeWebhookSecret', 'StripeCurrency', 'StripePrice'),
  },
  {
    name: 'login',
    fields: plain(
      'PasswordLoginEnabled',
      'PasswordRegisterEnabled',
      'EmailVerificationEnabled',
      'RegisterEnabled',
      'general_setting.admin_second_factor',
    ),
  },
  {
    name: 'email',
    fields: [
      ...plain('EmailDomainRestrictionEnabled', 'EmailAliasRestrictionEnabled'),
      { key: 'EmailDomainWhitelist', holds: 'domains' },
    ],
  },
  {
    name: 'smtp',
    fields: plain('SMTPServer', 'SMTPPort', 'SMTPAccount', 'SMTPFrom', 'SMTPToken', 'SMTPSSLEnabled'),
  },
  {
    name: 'oidc',
    fetches: 'oidc',
    fields: [
      ...plain('oidc.enabled', 'oidc.client_id', 'oidc.client_secret'),
      ...(
        ['oidc.well_known', 'oidc.authorization_endpoint', 'oidc.token_endpoint', 'oidc.user_info_endpoint'] as const
      ).map((key) => ({ key, holds: 'url' }) as const),
    ],
  },
  { name: 'github', fields: plain('GitHubOAuthEnabled', 'GitHubClientId', 'GitHubClientSecret') },
  { name: 'linuxdo', fields: plain('LinuxDOOAuthEnabled', 'LinuxDOClientId', 'LinuxDOClientSecret') },
  {
    name: 'wechat',
    fields: [
      { key: 'WeChatAuthEnabled' },
      address('WeChatServerAddress'),
      ...plain('WeChatServerToken', 'WeChatAccountQRCodeImageURL'),
    ],
  },
  { name: 'telegram', fields: plain('TelegramOAuthEnabled', 'TelegramBotToken', 'TelegramBotName') },
  { name: 'turnstile', fields: plain('TurnstileCheckEnabled', 'TurnstileSiteKey', 'TurnstileSecretKey') },
];

const other: readonly SettingSection[] = [
  { name: 'notice', fields: plain('Notice') },
  { name: 'looks', fields: plain('SystemName', 'Logo') },
  { name: 'home', fields: plain('HomePageContent') },
  { name: 'about', fields: plain('About') },
  { name: 'footer', fields: plain('Footer') },
];

export const settingTabs = { operation, ratelimit: rateLimit, models, system, other } as const;
export type SettingTab = keyof typeof settingTabs;

export const isSettingTab = (text: string): text is SettingTab => Object.hasOwn(settingTabs, text);
