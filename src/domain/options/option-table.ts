import { maxInt, type TextBound } from '../kernel/bounds.js';
import { builtInServiceTiers } from '../pricing/built-in/default-service-tiers.js';

/* Every option the gateway knows: what it may hold and what it holds until an operator says otherwise. */

type Shape =
  | { readonly kind: 'boolean' }
  | ({ readonly kind: 'text' } & TextBound)
  /** Kept in the vault; never listed. */
  | { readonly kind: 'secret' }
  | { readonly kind: 'integer' | 'number'; readonly minimum: number; readonly maximum: number }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  /** JSON object of name → number ≥ 0. */
  | { readonly kind: 'ratios' }
  /** JSON object of name → integer from 1 to `maxCounted`. */
  | { readonly kind: 'counts' }
  /** JSON object of name → text. */
  | { readonly kind: 'texts' }
  /** `of`: what each member must be; left out: anything. */
  | { readonly kind: 'json-object'; readonly of?: 'context-tiers' | 'service-tiers' }
  /** `of`: what each must be; left out: anything. */
  | { readonly kind: 'json-array'; readonly of?: 'chat-links' | 'price-sources' };

/** The largest number of tokens an option may hold: with it no product of limits leaves the range of exact integers. */
export const maxCounted = 2 ** 30 - 1;

/** Prices are products of ratios; none of them makes a price that cannot be counted. */
export const maxRatio = 1_000_000;

/** Why an option cannot be another than it is: what it is about does not exist here, or is always done. */
export type Fixed =
  /** Answers are passed on as they come. */
  | 'answers-unseen'
  /** A prompt that holds one of the words is refused. */
  | 'prompts-refused'
  /** Statistics count each call as it ends. */
  | 'counted-at-once'
  /** Nothing is kept back of a stream. */
  | 'never-queued';

export type OptionDefinition = Shape & {
  readonly initial: string;
  /** It stays at `initial`, whatever an earlier release has let somebody store. Whoever builds it takes this out. */
  readonly fixed?: Fixed;
};

const off = { kind: 'boolean', initial: 'false' } as const;
const on = { kind: 'boolean', initial: 'true' } as const;
const always = <Definition extends OptionDefinition, Because extends Fixed>(definition: Definition, fixed: Because) =>
  ({ ...definition, fixed }) as const;
const line = (initial = '') => ({ kind: 'text', initial, max: 2048 }) as const;
/** Words and lists, one per line or between commas. */
const lines = (initial = '') => ({ kind: 'text', initial, max: 131_072, lines: true }) as const;
/** Markdown or HTML, pictures included. */
const page = () => ({ kind: 'text', initial: '', max: 262_144, lines: true }) as const;
const secret = { kind: 'secret', initial: '' } as const;
const integer = (initial: number, minimum: number, maximum: number = maxInt) =>
  ({ kind: 'integer', initial: String(initial), minimum, maximum }) as const;
const number = (initial: number, minimum: number, maximum: number) =>
  ({ kind: 'number', initial: String(initial), minimum, maximum }) as const;
/** What everybody may get: two million dollars, if a dollar is worth what it is by default. */
const quota = (initial: number) => integer(initial, 0, 1_000_000_000_000);
const secondsInADay = 86_400;
/** A hundred years. */
const maxDaysKept = 36_500;
const ratios = (initial: string) => ({ kind: 'ratios', initial }) as const;
const counts = (initial: string) => ({ kind: 'counts', initial }) as const;
const texts = (initial: string) => ({ kind: 'texts', initial }) as const;
const object = (initial: string) => ({ kind: 'json-object', initial }) as const;
const array = (initial: string) => ({ kind: 'json-array', initial }) as const;

const disableKeywords = [
  'Your credit balance is too low',
  'This organization has been disabled.',
  'You exceeded your current quota',
  'Permission denied',
  'The security token included in the request is invalid',
  'Operation not allowed',
  'Your account is not authorized',
];

/** Public front ends to begin with. Whoever opens one hands it an API key of theirs: `{address}` and `{key}`. */
const chatLinks = [
  { NextChat: 'https://app.nextchat.dev/#/?settings={"key":"{key}","url":"{address}"}' },
  {
    'Lobe Chat':
      'https://chat-preview.lobehub.com/?settings={"keyVaults":{"openai":{"apiKey":"{key}","baseURL":"{address}/v1"}}}',
  },
  {
    'AI as Workspace':
      'https://aiaw.app/set-provider?provider={"type":"openai","settings":{"apiKey":"{key}","baseURL":"{address}/v1","compatibility":"strict"}}',
  },
  { AMA: 'ama://set-api-key?server={address}&key={key}' },
  { OpenCat: 'opencat://team/join?domain={address}&token={key}' },
];

const mailDomains = 'gmail.com,163.com,126.com,qq.com,outlook.com,hotmail.com,icloud.com,yahoo.com,foxmail.com';

export const optionTable = {
  PasswordLoginEnabled: on,
  PasswordRegisterEnabled: on,
  RegisterEnabled: on,
  EmailVerificationEnabled: off,
  EmailDomainRestrictionEnabled: off,
  EmailAliasRestrictionEnabled: off,
  EmailDomainWhitelist: lines(mailDomains),
  TurnstileCheckEnabled: off,
  TurnstileSiteKey: line(),
  TurnstileSecretKey: secret,
  GitHubOAuthEnabled: off,
  GitHubClientId: line(),
  GitHubClientSecret: secret,
  LinuxDOOAuthEnabled: off,
  LinuxDOClientId: line(),
  LinuxDOClientSecret: secret,
  'oidc.enabled': off,
  'oidc.client_id': line(),
  'oidc.client_secret': secret,
  'oidc.well_known': line(),
  'oidc.authorization_endpoint': line(),
  'oidc.token_endpoint': line(),
  'oidc.user_info_endpoint': line(),
  WeChatAuthEnabled: off,
  WeChatServerAddress: line(),
  WeChatServerToken: secret,
  WeChatAccountQRCodeImageURL: line(),
  TelegramOAuthEnabled: off,
  TelegramBotToken: secret,
  TelegramBotName: line(),
  SMTPServer: line(),
  SMTPPort: integer(587, 1, 65_535),
  SMTPAccount: line(),
  SMTPFrom: line(),
  SMTPToken: secret,
  SMTPSSLEnabled: off,
  ServerAddress: line(),
  WorkerUrl: line(),
  WorkerValidKey: secret,
  PayAddress: line(),
  EpayId: line(),
  EpayKey: secret,
  CustomCallbackAddress: line(),
  StripeApiSecret: secret,
  StripeWebhookSecret: secret,
  /** ISO 4217, of those that have cents. */
  StripeCurrency: line('CNY'),
  /** Of a dollar's quota, in that currency; 0: what everybody else pays. */
  StripePrice: number(0, 0, 1_000_000),
  Price: number(7.3, 0, 1_000_000),
  MinTopUp: integer(1, 0),
  TopupGroupRatio: ratios('{"default":1,"vip":1,"svip":1}'),
  TopUpLink: line(),
  Notice: page(),
  About: page(),
  HomePageContent: page(),
  Footer: page(),
  Logo: page(),
  SystemName: line('Tallygate'),
  QuotaForNewUser: quota(0),
  QuotaForInviter: quota(0),
  QuotaForInvitee: quota(0),
  QuotaRemindThreshold: quota(1000),
  PreConsumedQuota: integer(500, 0, maxCounted),
  ModelMaxOutputTokens: counts('{}'),
  DefaultMaxOutputTokens: integer(32_768, 1, maxCounted),
  LowerOutputLimitEnabled: on,
  UpstreamPromptTokens: integer(1024, 0, maxCounted),
  QuotaPerUnit: number(500_000, 0.000001, 1_000_000_000_000),
  DisplayInCurrencyEnabled: on,
  DisplayTokenStatEnabled: on,
  ModelRatio: ratios('{}'),
  ModelPrice: ratios('{}'),
  CompletionRatio: ratios('{}'),
  CacheRatio: ratios('{}'),
  ReasoningRatio: ratios('{}'),
  ImageOutputRatio: ratios('{}'),
  ContextTiers: { kind: 'json-object', of: 'context-tiers', initial: '{}' },
  ServiceTiers: { kind: 'json-object', of: 'service-tiers', initial: builtInServiceTiers },
  /** USD of a thousand calls. Where nothing is said of a model, what its family or everybody pays. */
  ToolPrice: ratios(
    '{"web_search":10,"web_search:gpt-4o*":25,"web_search:gpt-4.1*":25,"google_search":14,"google_search:gemini-1*":35,"google_search:gemini-2*":35,"google_maps":14,"google_maps:gemini-1*":25,"google_maps:gemini-2*":25,"code_execution":50,"code_interpreter":30}',
  ),
  PriceSources: { kind: 'json-array', of: 'price-sources', initial: '[]' },
  /** A model that no table knows costs what the nearest of its family does. */
  NearestFamilyPriceEnabled: off,
  GroupRatio: ratios('{"default":1,"vip":1,"svip":1}'),
  UserUsableGroups: texts('{"default":"默认分组","vip":"vip分组"}'),
  /** Root may change where a channel's key is sent without giving the key again. */
  RootKeepsChannelKeys: off,
  RetryTimes: integer(0, 0, 100),
  ChannelDisableThreshold: number(5, 0, secondsInADay),
  AutomaticDisableChannelEnabled: off,
  AutomaticEnableChannelEnabled: off,
  AutomaticDisableKeywords: lines(disableKeywords.join('\n')),
  LogConsumeEnabled: on,
  DataExportEnabled: on,
  DataExportInterval: always(integer(5, 1), 'counted-at-once'),
  DataExportDefaultTime: { kind: 'choice', choices: ['hour', 'day', 'week'], initial: 'hour' },
  DefaultCollapseSidebar: off,
  DrawingEnabled: on,
  TaskEnabled: on,
  /** Upstreams of drawings may report on tasks, at an address of this gateway. */
  MjNotifyEnabled: off,
  MjAccountFilterEnabled: off,
  /** Prompts lose the words that choose a speed. */
  MjModeClearEnabled: off,
  /** Pictures are passed on from here. */
  MjForwardUrlEnabled: on,
  /** What goes on from a drawing waits for its success. */
  MjActionCheckSuccessEnabled: on,
  CheckSensitiveEnabled: on,
  CheckSensitiveOnPromptEnabled: on,
  CheckSensitiveOnCompletionEnabled: always(off, 'answers-unseen'),
  StopOnSensitiveEnabled: always(on, 'prompts-refused'),
  SensitiveWords: lines('test_sensitive'),
  StreamCacheQueueLength: always(integer(0, 0), 'never-queued'),
  Chats: { kind: 'json-array', of: 'chat-links', initial: JSON.stringify(chatLinks) },
  DemoSiteEnabled: off,
  SelfUseModeEnabled: off,
  ModelRequestRateLimitEnabled: off,
  ModelRequestRateLimitCount: integer(0, 0),
  ModelRequestRateLimitSuccessCount: integer(1000, 1),
  ModelRequestRateLimitDurationMinutes: integer(1, 0),
  'gemini.safety_settings': texts('{"HARM_CATEGORY_CIVIC_INTEGRITY":"BLOCK_NONE","default":"OFF"}'),
  'gemini.version_settings': texts('{"default":"v1beta","gemini-1.0-pro":"v1"}'),
  'gemini.supported_imagine_models': array('["gemini-2.0-flash-exp-image-generation","gemini-2.0-flash-exp"]'),
  'gemini.thinking_adapter_enabled': off,
  'gemini.thinking_adapter_budget_tokens_percentage': number(0.6, 0.1, 1),
  'claude.model_headers_settings': object('{}'),
  'claude.default_max_tokens': object('{"default":8192}'),
  'claude.thinking_adapter_enabled': on,
  'claude.thinking_adapter_budget_tokens_percentage': number(0.8, 0.1, 1),
  /** Prompts of conversations are marked for Anthropic's cache where their callers' dialect has no words for that. */
  'claude.prompt_caching_enabled': on,
  'global.pass_through_request_enabled': off,
  'general_setting.docs_link': line(),
  'general_setting.admin_second_factor': off,
  'general_setting.ping_interval_enabled': off,
  'general_setting.ping_interval_seconds': integer(60, 1, secondsInADay),
  /** 0: after half a minute, or after an interval where silence is filled and that is shorter. */
  'general_setting.stream_open_seconds': integer(0, 0, secondsInADay),
  'general_setting.api_key_concurrency': integer(0, 0),
  /** Calls of a conversation go to the channel that has its prompt in the cache. */
  'general_setting.session_affinity': on,
  /** Clients of the Responses interface may open a WebSocket. */
  'general_setting.responses_websocket': on,
  /** In the currency of each channel's account; 0: root is notified of none. */
  'general_setting.low_channel_balance': number(1, 0, 1_000_000_000),
  /** For how many days the usage log shows what happened; 0: for ever. */
  'general_setting.log_retention_days': integer(0, 0, maxDaysKept),
  /** Where the newest seal of the log is sent again and again. */
  'general_setting.seal_head_delivery': { kind: 'choice', choices: ['off', 'webhook', 'mail', 'file'], initial: 'off' },
  'general_setting.seal_head_address': line(),
  'general_setting.seal_head_secret': secret,
  'general_setting.seal_head_hours': integer(24, 1, 720),
  /** Providers keep what their callers have them keep. */
  'general_setting.keep_upstream': on,
  /** For how many days that can be named. */
  'general_setting.kept_upstream_days': integer(30, 1, 365),
  /** Responses at upstreams that have chat alone are stored here, so that they can be continued by their ids. */
  'general_setting.store_responses': on,
  /** For how many days, and how much of all users together. */
  'general_setting.stored_response_days': integer(7, 1, 30),
  /** 0: no limit. */
  'general_setting.open_tasks_per_user': integer(100, 0, 1_000_000),
  'general_setting.stored_response_megabytes': integer(1024, 16, 1_048_576),
  /** 0: no limit. Whoever has more keeps them and gets no new ones. */
  'general_setting.api_keys_per_user': integer(1000, 0),
} as const satisfies Record<string, OptionDefinition>;

export type OptionKey = keyof typeof optionTable;

export const optionDefinition = (key: string): OptionDefinition | null =>
  Object.hasOwn(optionTable, key) ? optionTable[key as OptionKey] : null;

/** Why it cannot be changed; null: it can. */
export const fixedBecause = (key: string): Fixed | null => optionDefinition(key)?.fixed ?? null;

/** Whether the gateway asks for it at all. */
export const hasEffect = (key: string): boolean => optionDefinition(key) !== null && fixedBecause(key) === null;

/** Secret by definition, or by a name an unknown option gives itself. */
export const isSecretOption = (key: string): boolean =>
  optionDefinition(key)?.kind === 'secret' || (optionDefinition(key) === null && /(Token|Secret|Key)$/i.test(key));

const prerequisites: Readonly<Partial<Record<OptionKey, OptionKey>>> = {
  GitHubOAuthEnabled: 'GitHubClientId',
  'oidc.enabled': 'oidc.client_id',
  LinuxDOOAuthEnabled: 'LinuxDOClientId',
  EmailDomainRestrictionEnabled: 'EmailDomainWhitelist',
  WeChatAuthEnabled: 'WeChatServerAddress',
  TurnstileCheckEnabled: 'TurnstileSiteKey',
  TelegramOAuthEnabled: 'TelegramBotToken',
};

/** What must be filled in before a switch may be turned on. */
export const prerequisiteOf = (key: string): OptionKey | null =>
  (Object.hasOwn(prerequisites, key) ? prerequisites[key as OptionKey] : null) ?? null;
