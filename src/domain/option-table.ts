import { isDecimal } from './decimal.js';
import { Failure } from './failure.js';

/* Every option the gateway knows: what it may hold and what it holds until an operator says otherwise. */

type Shape =
  | { readonly kind: 'boolean' }
  | { readonly kind: 'text' }
  /** Kept in the vault; never listed. */
  | { readonly kind: 'secret' }
  | { readonly kind: 'integer' | 'number'; readonly minimum?: number; readonly maximum?: number }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  /** JSON object of name → number ≥ 0. */
  | { readonly kind: 'ratios' }
  /** JSON object of name → integer from 1 to `mostCounted`. */
  | { readonly kind: 'counts' }
  /** JSON object of name → text. */
  | { readonly kind: 'texts' }
  | { readonly kind: 'json-object' | 'json-array' };

/** The largest number of tokens an option may hold: with it no product of limits leaves the range of exact integers. */
export const mostCounted = 2 ** 30 - 1;

export type OptionDefinition = Shape & { readonly initial: string };

const off = { kind: 'boolean', initial: 'false' } as const;
const on = { kind: 'boolean', initial: 'true' } as const;
const text = (initial = '') => ({ kind: 'text', initial }) as const;
const secret = { kind: 'secret', initial: '' } as const;
const integer = (initial: number, minimum?: number, maximum?: number) =>
  ({ kind: 'integer', initial: String(initial), minimum, maximum }) as const;
const number = (initial: number, minimum?: number, maximum?: number) =>
  ({ kind: 'number', initial: String(initial), minimum, maximum }) as const;
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

const mailDomains = 'gmail.com,163.com,126.com,qq.com,outlook.com,hotmail.com,icloud.com,yahoo.com,foxmail.com';

export const optionTable = {
  PasswordLoginEnabled: on,
  PasswordRegisterEnabled: on,
  RegisterEnabled: on,
  EmailVerificationEnabled: off,
  EmailDomainRestrictionEnabled: off,
  EmailAliasRestrictionEnabled: off,
  EmailDomainWhitelist: text(mailDomains),
  TurnstileCheckEnabled: off,
  TurnstileSiteKey: text(),
  TurnstileSecretKey: secret,
  GitHubOAuthEnabled: off,
  GitHubClientId: text(),
  GitHubClientSecret: secret,
  LinuxDOOAuthEnabled: off,
  LinuxDOClientId: text(),
  LinuxDOClientSecret: secret,
  'oidc.enabled': off,
  'oidc.client_id': text(),
  'oidc.client_secret': secret,
  'oidc.well_known': text(),
  'oidc.authorization_endpoint': text(),
  'oidc.token_endpoint': text(),
  'oidc.user_info_endpoint': text(),
  WeChatAuthEnabled: off,
  WeChatServerAddress: text(),
  WeChatServerToken: secret,
  WeChatAccountQRCodeImageURL: text(),
  TelegramOAuthEnabled: off,
  TelegramBotToken: secret,
  TelegramBotName: text(),
  SMTPServer: text(),
  SMTPPort: integer(587, 1),
  SMTPAccount: text(),
  SMTPFrom: text(),
  SMTPToken: secret,
  SMTPSSLEnabled: off,
  ServerAddress: text(),
  WorkerUrl: text(),
  WorkerValidKey: secret,
  PayAddress: text(),
  EpayId: text(),
  EpayKey: secret,
  CustomCallbackAddress: text(),
  Price: number(7.3, 0),
  MinTopUp: integer(1, 0),
  TopupGroupRatio: ratios('{"default":1,"vip":1,"svip":1}'),
  TopUpLink: text(),
  Notice: text(),
  About: text(),
  HomePageContent: text(),
  Footer: text(),
  Logo: text(),
  SystemName: text('Tallygate'),
  QuotaForNewUser: integer(0, 0),
  QuotaForInviter: integer(0, 0),
  QuotaForInvitee: integer(0, 0),
  QuotaRemindThreshold: integer(1000, 0),
  PreConsumedQuota: integer(500, 0, mostCounted),
  ModelMaxOutputTokens: counts('{}'),
  DefaultMaxOutputTokens: integer(32_768, 1, mostCounted),
  UpstreamPromptTokens: integer(1024, 0, mostCounted),
  QuotaPerUnit: number(500_000, 0.000001),
  DisplayInCurrencyEnabled: on,
  DisplayTokenStatEnabled: on,
  ModelRatio: ratios('{}'),
  ModelPrice: ratios('{}'),
  CompletionRatio: ratios('{}'),
  CacheRatio: ratios('{}'),
  ReasoningRatio: ratios('{}'),
  GroupRatio: ratios('{"default":1,"vip":1,"svip":1}'),
  UserUsableGroups: texts('{"default":"默认分组","vip":"vip分组"}'),
  RetryTimes: integer(0, 0),
  ChannelDisableThreshold: number(5, 0),
  AutomaticDisableChannelEnabled: off,
  AutomaticEnableChannelEnabled: off,
  AutomaticDisableKeywords: text(disableKeywords.join('\n')),
  LogConsumeEnabled: on,
  DataExportEnabled: on,
  DataExportInterval: integer(5, 1),
  DataExportDefaultTime: { kind: 'choice', choices: ['hour', 'day', 'week'], initial: 'hour' },
  DefaultCollapseSidebar: off,
  DrawingEnabled: on,
  TaskEnabled: on,
  MjNotifyEnabled: off,
  MjAccountFilterEnabled: off,
  MjModeClearEnabled: off,
  MjForwardUrlEnabled: on,
  MjActionCheckSuccessEnabled: on,
  CheckSensitiveEnabled: on,
  CheckSensitiveOnPromptEnabled: on,
  CheckSensitiveOnCompletionEnabled: off,
  StopOnSensitiveEnabled: on,
  SensitiveWords: text('test_sensitive'),
  StreamCacheQueueLength: integer(0, 0),
  Chats: array('[]'),
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
  'global.pass_through_request_enabled': off,
  'general_setting.docs_link': text(),
  'general_setting.ping_interval_enabled': off,
  'general_setting.ping_interval_seconds': integer(60, 1),
  'general_setting.api_key_concurrency': integer(0, 0),
} as const satisfies Record<string, OptionDefinition>;

export type OptionKey = keyof typeof optionTable;

export const optionDefinition = (key: string): OptionDefinition | null =>
  Object.hasOwn(optionTable, key) ? optionTable[key as OptionKey] : null;

/** Secret by definition, or by a name an unknown option gives itself. */
export const isSecretOption = (key: string): boolean =>
  optionDefinition(key)?.kind === 'secret' || (optionDefinition(key) === null && /(Token|Secret|Key)$/i.test(key));

const wrong = (key: string, allowed: string): Failure => new Failure('option-value-invalid', { field: key, allowed });

const parsed = (key: string, value: string, allowed: string): unknown => {
  try {
    return JSON.parse(value);
  } catch {
    throw wrong(key, allowed);
  }
};

const members = (key: string, value: string, allowed: string): [string, unknown][] => {
  const object = parsed(key, value, allowed);
  if (typeof object !== 'object' || object === null || Array.isArray(object)) throw wrong(key, allowed);
  return Object.entries(object);
};

function checkNumber(
  key: string,
  value: string,
  { kind, minimum, maximum }: Extract<OptionDefinition, { kind: 'integer' | 'number' }>,
): void {
  const bounds = `${minimum === undefined ? '' : ` from ${minimum}`}${maximum === undefined ? '' : ` to ${maximum}`}`;
  const allowed = `${kind === 'integer' ? 'an integer' : 'a number'}${bounds}`;
  // What is no decimal text to the price tables is none here, even where JavaScript would read a number.
  const amount = isDecimal(value) ? Number(value) : Number.NaN;
  const fits = kind === 'integer' ? Number.isSafeInteger(amount) : Number.isFinite(amount);
  if (!fits || amount < (minimum ?? amount) || amount > (maximum ?? amount)) throw wrong(key, allowed);
}

/** Throws `option-value-invalid` naming the key and what is allowed. Unknown keys may hold any text. */
export function checkOption(key: string, value: string): void {
  const definition = optionDefinition(key);
  if (definition === null) return;
  switch (definition.kind) {
    case 'text':
    case 'secret':
      return;
    case 'boolean':
      if (value !== 'true' && value !== 'false') throw wrong(key, '"true" or "false"');
      return;
    case 'choice':
      if (!definition.choices.includes(value)) throw wrong(key, definition.choices.join(', '));
      return;
    case 'integer':
    case 'number':
      checkNumber(key, value, definition);
      return;
    case 'json-array':
      if (!Array.isArray(parsed(key, value, 'a JSON array'))) throw wrong(key, 'a JSON array');
      return;
    case 'json-object':
      members(key, value, 'a JSON object');
      return;
    case 'ratios':
      readRatios(key, value);
      return;
    case 'counts':
      readCounts(key, value);
      return;
    case 'texts':
      readTexts(key, value);
      return;
  }
}

/** JSON object of name → number ≥ 0, as exact decimal texts. Throws `option-value-invalid`. */
export function readRatios(key: string, value: string): Map<string, string> {
  const table = members(key, value, 'a JSON object of names and numbers from 0');
  return new Map(
    table.map(([name, ratio]) => {
      if (typeof ratio !== 'number' || !Number.isFinite(ratio) || ratio < 0)
        throw wrong(`${key}.${name}`, 'a number from 0');
      return [name, String(ratio)];
    }),
  );
}

/** JSON object of name → integer from 1. Throws `option-value-invalid`. */
export function readCounts(key: string, value: string): Map<string, number> {
  const table = members(key, value, `a JSON object of names and integers from 1 to ${mostCounted}`);
  return new Map(
    table.map(([name, count]) => {
      if (typeof count !== 'number' || !Number.isInteger(count) || count < 1 || count > mostCounted)
        throw wrong(`${key}.${name}`, `an integer from 1 to ${mostCounted}`);
      return [name, count];
    }),
  );
}

/** JSON object of name → text. Throws `option-value-invalid`. */
export function readTexts(key: string, value: string): Map<string, string> {
  const table = members(key, value, 'a JSON object of names and texts');
  return new Map(
    table.map(([name, text]) => {
      if (typeof text !== 'string') throw wrong(`${key}.${name}`, 'a text');
      return [name, text];
    }),
  );
}

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
