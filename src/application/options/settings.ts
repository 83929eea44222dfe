import { urlIn } from '../../domain/kernel/address.js';
import { contextTiersText, readContextTiers } from '../../domain/options/context-tier-option.js';
import { type OptionKey, optionDefinition, optionTable } from '../../domain/options/option-table.js';
import { readCounts, readNames, readRatios, readTexts } from '../../domain/options/option-values.js';
import type { PaymentProviderName } from '../../domain/payment/payment.js';
import type { PriceTables, RatioTable } from '../../domain/pricing/price-tables.js';
import type { EmailRules } from '../../domain/user/email.js';
import { type ClaudeSettings, claudeSettings } from './claude-settings.js';
import type { DefaultPrices } from './default-prices.js';

/* The options as the code uses them: typed, parsed once per change. */

export interface MailSettings {
  readonly host: string;
  readonly port: number;
  /** '': nobody signs in at the server. */
  readonly account: string;
  /** Who mails are from. */
  readonly sender: { readonly name: string; readonly address: string };
  /** TLS from the first byte. */
  readonly implicitTls: boolean;
}

/** Well before the minute after which proxies and clients give up an answer without headers. */
const usualStreamOpenMs = 30_000;

export interface Settings {
  readonly prices: PriceTables;
  /** Group → description, as users may choose. */
  readonly usableGroups: ReadonlyMap<string, string>;
  readonly retryTimes: number;
  /** The least output a call without a limit of its own must be able to pay for. */
  readonly preConsumedTokens: number;
  /** Calls under way at a time for each API key; 0: no limit. */
  readonly apiKeyConcurrency: number;
  /** Live API keys of each user; 0: no limit. */
  readonly maxApiKeys: number;
  /** Tokens of one answer, by model: what operators know better than the built-in table. */
  readonly maxOutputTokens: ReadonlyMap<string, number>;
  /** The same for models nobody knows anything of. */
  readonly defaultMaxOutputTokens: number;
  /** A caller's limit to an answer is lowered to what can be paid, rather than refused. */
  readonly lowersLimits: boolean;
  /** What an upstream may add to a prompt by itself: templates, hidden instructions, search results. */
  readonly upstreamPromptTokens: number;
  readonly quotaForNewUser: number;
  /** On top of it, for who was invited. */
  readonly quotaForInvitee: number;
  /** For who invited them. */
  readonly quotaForInviter: number;
  /** What quota costs in money, before groups. */
  readonly topUp: {
    readonly priceBy: Readonly<Record<PaymentProviderName, { readonly price: string; readonly currency: string }>>;
    /** US dollars. */
    readonly minimum: number;
    readonly groupRatio: RatioTable;
  };
  readonly selfUseMode: boolean;
  readonly passThroughRequests: boolean;
  readonly autoDisable: { readonly enabled: boolean; readonly keywords: readonly string[] };
  readonly modelRateLimit: {
    readonly enabled: boolean;
    readonly total: number;
    readonly successful: number;
    readonly windowSeconds: number;
  };
  readonly sensitiveWords: readonly string[];
  /** Longest silence of a stream that has been opened; null: it is not filled. */
  readonly pingIntervalMs: number | null;
  /** After so long without an answer a stream's headers are sent. */
  readonly streamOpenMs: number;
  readonly claude: ClaudeSettings;
  readonly passwordLogin: boolean;
  /** Administrators are to have a second factor. */
  readonly adminSecondFactor: boolean;
  /** Of `ServerAddress`, scheme, host and port; empty where it names no site. */
  readonly siteAddress: string;
  /** What addresses people may verify. */
  readonly emailRules: EmailRules;
  /** null: no mail can be sent. */
  readonly mail: MailSettings | null;
  /** What operators say of Gemini's interfaces. */
  readonly gemini: {
    /** Thresholds by kind of harm, and `default`. */
    readonly safety: ReadonlyMap<string, string>;
    /** Versions of the interface by model, and `default`. */
    readonly versions: ReadonlyMap<string, string>;
    /** Models that are asked for pictures beside text. */
    readonly imageModels: ReadonlySet<string>;
    /** Suffixes of names say how long to think. */
    readonly thinkingAdapter: boolean;
    /** The part of the limit on the output that is thought, where the suffix says no more. */
    readonly thinkingShare: number;
  };
  /** The effective text of an option; '' for an unknown key and for every secret. */
  text(key: OptionKey): string;
  flag(key: OptionKey): boolean;
  /** Within the range of the option. */
  number(key: OptionKey): number;
}

const tableText = (table: RatioTable): string =>
  JSON.stringify(Object.fromEntries([...table].map(([name, ratio]) => [name, Number(ratio)])));

/** What each option holds until it is changed, prices included. */
export function initialOptions(prices: DefaultPrices): ReadonlyMap<string, string> {
  const initial = new Map<string, string>(Object.entries(optionTable).map(([key, { initial }]) => [key, initial]));
  initial.set('ModelRatio', tableText(prices.modelRatio));
  initial.set('ModelPrice', tableText(prices.modelPrice));
  initial.set('CompletionRatio', tableText(prices.completionRatio));
  initial.set('CacheRatio', tableText(prices.cacheRatio));
  initial.set('ImageOutputRatio', tableText(prices.imageOutputRatio));
  initial.set('ContextTiers', contextTiersText(prices.contextTiers));
  return initial;
}

const isNumber = (key: OptionKey): boolean => 'minimum' in optionTable[key];

const lines = (value: string): string[] =>
  value
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

const listed = (value: string): string[] =>
  value
    .split(/[,\n]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

function siteIn(address: string): string {
  const url = urlIn(address);
  return url !== null && /^https?:$/.test(url.protocol) ? url.origin : '';
}

const implicitTlsPort = 465;

function mailSettings(text: Settings['text'], flag: Settings['flag'], number: Settings['number']): MailSettings | null {
  const host = text('SMTPServer').trim();
  const port = number('SMTPPort');
  const account = text('SMTPAccount').trim();
  const address = text('SMTPFrom').trim() || account;
  if (host === '' || address === '') return null;
  const implicitTls = port === implicitTlsPort || flag('SMTPSSLEnabled');
  return { host, port, account, sender: { name: text('SystemName'), address }, implicitTls };
}

/** `changed`: the values operators have set, by key; secrets left out. Values were checked when they were stored. */
export function settingsFrom(
  changed: ReadonlyMap<string, string>,
  defaults: DefaultPrices,
  initial: ReadonlyMap<string, string>,
): Settings {
  const text = (key: OptionKey): string => {
    const value = changed.get(key);
    const isSet = value !== undefined && (value !== '' || !isNumber(key));
    return isSet ? value : (initial.get(key) ?? '');
  };
  const flag = (key: OptionKey): boolean => text(key) === 'true';
  // A value older than today's range counts as the end of it: nothing it is used for has to fear more.
  const number = (key: OptionKey): number => {
    const definition = optionDefinition(key);
    const value = Number(text(key));
    return definition !== null && 'minimum' in definition
      ? Math.min(Math.max(value, definition.minimum), definition.maximum)
      : value;
  };
  const ratios = (key: OptionKey, fallback: RatioTable | null): RatioTable =>
    fallback !== null && !changed.has(key) ? fallback : readRatios(key, text(key));
  const pingIntervalMs = flag('general_setting.ping_interval_enabled')
    ? number('general_setting.ping_interval_seconds') * 1000
    : null;
  const words = flag('CheckSensitiveEnabled') && flag('CheckSensitiveOnPromptEnabled');
  return {
    prices: {
      modelRatio: ratios('ModelRatio', defaults.modelRatio),
      modelPrice: ratios('ModelPrice', defaults.modelPrice),
      completionRatio: ratios('CompletionRatio', defaults.completionRatio),
      cacheRatio: ratios('CacheRatio', defaults.cacheRatio),
      cacheWriteRatio: defaults.cacheWriteRatio,
      imageRatio: defaults.imageRatio,
      imageOutputRatio: ratios('ImageOutputRatio', defaults.imageOutputRatio),
      audioRatio: defaults.audioRatio,
      audioOutputRatio: defaults.audioOutputRatio,
      contextTiers: changed.has('ContextTiers') ? readContextTiers(text('ContextTiers')) : defaults.contextTiers,
      reasoningRatio: ratios('ReasoningRatio', null),
      groupRatio: ratios('GroupRatio', null),
      toolPrice: ratios('ToolPrice', null),
      quotaPerUnit: text('QuotaPerUnit'),
    },
    usableGroups: readTexts('UserUsableGroups', text('UserUsableGroups')),
    retryTimes: number('RetryTimes'),
    preConsumedTokens: number('PreConsumedQuota'),
    apiKeyConcurrency: number('general_setting.api_key_concurrency'),
    maxApiKeys: number('general_setting.api_keys_per_user'),
    maxOutputTokens: readCounts('ModelMaxOutputTokens', text('ModelMaxOutputTokens')),
    defaultMaxOutputTokens: number('DefaultMaxOutputTokens'),
    lowersLimits: flag('LowerOutputLimitEnabled'),
    upstreamPromptTokens: number('UpstreamPromptTokens'),
    quotaForNewUser: number('QuotaForNewUser'),
    quotaForInvitee: number('QuotaForInvitee'),
    quotaForInviter: number('QuotaForInviter'),
    topUp: {
      priceBy: {
        epay: { price: text('Price'), currency: 'CNY' },
        stripe: {
          price: number('StripePrice') === 0 ? text('Price') : text('StripePrice'),
          currency: text('StripeCurrency').trim().toUpperCase(),
        },
      },
      minimum: number('MinTopUp'),
      groupRatio: ratios('TopupGroupRatio', null),
    },
    selfUseMode: flag('SelfUseModeEnabled'),
    passThroughRequests: flag('global.pass_through_request_enabled'),
    autoDisable: {
      enabled: flag('AutomaticDisableChannelEnabled'),
      keywords: lines(text('AutomaticDisableKeywords')).map((word) => word.toLowerCase()),
    },
    modelRateLimit: {
      enabled: flag('ModelRequestRateLimitEnabled'),
      total: number('ModelRequestRateLimitCount'),
      successful: number('ModelRequestRateLimitSuccessCount'),
      windowSeconds: number('ModelRequestRateLimitDurationMinutes') * 60,
    },
    sensitiveWords: words ? lines(text('SensitiveWords')).map((word) => word.toLowerCase()) : [],
    pingIntervalMs,
    streamOpenMs:
      number('general_setting.stream_open_seconds') * 1000 || Math.min(pingIntervalMs ?? Infinity, usualStreamOpenMs),
    claude: claudeSettings(
      text('claude.default_max_tokens'),
      text('claude.model_headers_settings'),
      flag('claude.thinking_adapter_enabled'),
      number('claude.thinking_adapter_budget_tokens_percentage'),
    ),
    passwordLogin: flag('PasswordLoginEnabled'),
    adminSecondFactor: flag('general_setting.admin_second_factor'),
    siteAddress: siteIn(text('ServerAddress')),
    emailRules: {
      domains: flag('EmailDomainRestrictionEnabled') ? listed(text('EmailDomainWhitelist')) : null,
      withoutAliases: flag('EmailAliasRestrictionEnabled'),
    },
    mail: mailSettings(text, flag, number),
    gemini: {
      safety: readTexts('gemini.safety_settings', text('gemini.safety_settings')),
      versions: readTexts('gemini.version_settings', text('gemini.version_settings')),
      imageModels: new Set(readNames('gemini.supported_imagine_models', text('gemini.supported_imagine_models'))),
      thinkingAdapter: flag('gemini.thinking_adapter_enabled'),
      thinkingShare: number('gemini.thinking_adapter_budget_tokens_percentage'),
    },
    text,
    flag,
    number,
  };
}
