import type { OptionKey } from '../../domain/options/option-table.js';
import { readCounts, readTexts } from '../../domain/options/option-values.js';
import type { PaymentProviderName } from '../../domain/payment/payment.js';
import type { PriceTables, RatioTable } from '../../domain/pricing/price-tables.js';
import type { EmailRules } from '../../domain/user/email.js';
import type { DefaultPrices } from '../prices/default-prices.js';
import { priceTables, type StatedPrices, topUpSettings } from '../prices/price-settings.js';
import { type ClaudeSettings, claudeSettings } from './claude-settings.js';
import { emailRules, type MailSettings, mailSettings, siteIn } from './mail-settings.js';
import { optionReader } from './option-reader.js';
import {
  autoDisable,
  geminiSettings,
  midjourneySettings,
  modelRateLimit,
  sensitiveWords,
  streamTimes,
} from './relay-settings.js';

/* The options as the code uses them: typed, parsed once per change. */

export interface Settings {
  readonly prices: PriceTables;
  /** Group → description, as users may choose. */
  readonly usableGroups: ReadonlyMap<string, string>;
  readonly retryTimes: number;
  /** The least output a call without a limit of its own must be able to pay for. */
  readonly preConsumedTokens: number;
  /** Calls under way at a time for each API key; 0: no limit. */
  readonly apiKeyConcurrency: number;
  /** Calls of a conversation go to the same channel. */
  readonly sessionAffinity: boolean;
  /** Clients of the Responses interface may open a WebSocket. */
  readonly responsesOverWebSocket: boolean;
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
  /** Providers keep what their callers have them keep. */
  readonly keepsUpstream: boolean;
  /** For how many days that can be named. */
  readonly keptDays: number;
  /** Responses at upstreams that have chat alone are stored here. */
  readonly storesResponses: boolean;
  readonly storedResponseDays: number;
  /** Of all users together. */
  readonly storedResponseMegabytes: number;
  /** 0: no limit. */
  readonly openTasksPerUser: number;
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
  /** Drawings by Midjourney proxies. */
  readonly midjourney: {
    /** Upstreams may report on tasks: they are given an address of this gateway, or the caller's own. */
    readonly notifies: boolean;
    /** Callers may choose among the accounts of an upstream. */
    readonly takesAccountFilter: boolean;
    /** Prompts lose the words that choose a speed. */
    readonly clearsModes: boolean;
    /** Pictures are passed on from here. */
    readonly forwardsPictures: boolean;
    /** What goes on from a drawing waits for its success. */
    readonly checksParent: boolean;
  };
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

const nothingStated: StatedPrices = { records: new Map(), known: [] };

/**
 * `changed`: the values operators have set, by key; secrets left out. Values were checked when they were stored.
 * `stated`: by the price table.
 */
export function settingsFrom(
  changed: ReadonlyMap<string, string>,
  defaults: DefaultPrices,
  initial: ReadonlyMap<string, string>,
  stated: StatedPrices = nothingStated,
): Settings {
  const options = optionReader(changed, initial);
  const { text, flag, number } = options;
  return {
    prices: priceTables(options, defaults, stated),
    topUp: topUpSettings(options),
    usableGroups: readTexts('UserUsableGroups', text('UserUsableGroups')),
    retryTimes: number('RetryTimes'),
    preConsumedTokens: number('PreConsumedQuota'),
    apiKeyConcurrency: number('general_setting.api_key_concurrency'),
    sessionAffinity: flag('general_setting.session_affinity'),
    responsesOverWebSocket: flag('general_setting.responses_websocket'),
    maxApiKeys: number('general_setting.api_keys_per_user'),
    maxOutputTokens: readCounts('ModelMaxOutputTokens', text('ModelMaxOutputTokens')),
    defaultMaxOutputTokens: number('DefaultMaxOutputTokens'),
    lowersLimits: flag('LowerOutputLimitEnabled'),
    upstreamPromptTokens: number('UpstreamPromptTokens'),
    quotaForNewUser: number('QuotaForNewUser'),
    quotaForInvitee: number('QuotaForInvitee'),
    quotaForInviter: number('QuotaForInviter'),
    selfUseMode: flag('SelfUseModeEnabled'),
    passThroughRequests: flag('global.pass_through_request_enabled'),
    keepsUpstream: flag('general_setting.keep_upstream'),
    keptDays: number('general_setting.kept_upstream_days'),
    storesResponses: flag('general_setting.store_responses'),
    storedResponseDays: number('general_setting.stored_response_days'),
    storedResponseMegabytes: number('general_setting.stored_response_megabytes'),
    openTasksPerUser: number('general_setting.open_tasks_per_user'),
    autoDisable: autoDisable(options),
    modelRateLimit: modelRateLimit(options),
    sensitiveWords: sensitiveWords(options),
    ...streamTimes(options),
    claude: claudeSettings(text('claude.default_max_tokens'), text('claude.model_headers_settings'), {
      thinkingAdapter: flag('claude.thinking_adapter_enabled'),
      thinkingShare: number('claude.thinking_adapter_budget_tokens_percentage'),
      cachesPrompts: flag('claude.prompt_caching_enabled'),
    }),
    midjourney: midjourneySettings(options),
    gemini: geminiSettings(options),
    passwordLogin: flag('PasswordLoginEnabled'),
    adminSecondFactor: flag('general_setting.admin_second_factor'),
    siteAddress: siteIn(text('ServerAddress')),
    emailRules: emailRules(options),
    mail: mailSettings(options),
    ...{ text, flag, number },
  };
}
