import { isDeepStrictEqual } from 'node:util';
import { urlIn } from '../kernel/address.js';
import type { Decider } from '../kernel/decider.js';
import { add, decimal, decimalOf, decimalText, isNegative, negative } from '../kernel/decimal.js';
import { assertNever, Failure, invalidField } from '../kernel/failure.js';
import type { SecretId, UserId } from '../kernel/ids.js';
import type { Quota } from '../kernel/quota.js';
import { type ChannelSettings, checkedChannelSettings } from './channel-settings.js';
import type { ProviderTable } from './provider.js';

/* One upstream connection. Stream `channel-{id}`. */

export interface ChannelSecrets {
  readonly key: SecretId;
  /** Keyed hash, for "find the channel with this key"; empty: it has no key yet, and cannot serve. */
  readonly keyHash: string;
  readonly proxy: SecretId | null;
}

/** What a successful test would have cost; it is logged, nobody pays. */
export interface ChannelTestUsage {
  readonly model: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly quota: Quota;
  readonly modelRatio: string;
  readonly completionRatio: string;
  readonly modelPrice: string | null;
}

/** `by`: whose order it was; what the gateway did by itself has nobody's, and events of earlier releases do not say. */
export type ChannelEvent =
  | { type: 'ChannelAdded'; settings: ChannelSettings; secrets: ChannelSecrets; by?: UserId }
  | { type: 'ChannelEdited'; settings: ChannelSettings; secrets: ChannelSecrets; by?: UserId }
  | { type: 'ChannelEnabled'; automatic: boolean; by?: UserId }
  | { type: 'ChannelDisabled'; automatic: boolean; reason: string; by?: UserId }
  | { type: 'ChannelTested'; ok: boolean; responseTimeMs: number; error: string | null; usage: ChannelTestUsage | null }
  /**
   * What the account has left, as its provider reports it: decimal text, in the currency of the account. `becameLow`: less
   * than was wanted then, and the time before it was not.
   */
  /** `currency`: by ISO 4217. Left out: nobody has said which. */
  | { type: 'ChannelBalanceObserved'; balance: string; currency?: string; becameLow: boolean }
  | { type: 'ChannelRemoved'; by?: UserId };

/**
 * By the gateway itself, or by somebody. `key`: the one that the channel was asked with; what came of it says nothing of
 * another that the channel has been given since.
 */
type Switching = { automatic: true; key: SecretId } | { automatic: false; by: UserId };

export type ChannelCommand =
  | {
      type: 'AddChannel';
      settings: ChannelSettings;
      secrets: ChannelSecrets;
      enabled: boolean;
      providers: ProviderTable;
      by: UserId;
    }
  | {
      type: 'EditChannel';
      /** What is missing or undefined stays as it is. */
      patch: Partial<ChannelSettings>;
      secrets: Partial<ChannelSecrets>;
      providers: ProviderTable;
      /** Whoever edits may send the stored key to another address. */
      keyMayFollow: boolean;
      by: UserId;
    }
  | ({ type: 'EnableChannel' } & Switching)
  | ({ type: 'DisableChannel'; reason: string } & Switching)
  | {
      type: 'RecordChannelTest';
      ok: boolean;
      responseTimeMs: number;
      error: string | null;
      usage: ChannelTestUsage | null;
    }
  /** `low`: what is below it is little; 0: nothing is. */
  | { type: 'RecordChannelBalance'; balance: string; currency: string | null; low: number }
  | { type: 'RemoveChannel'; by: UserId };

export type ChannelStatus = 'enabled' | 'disabled' | 'auto-disabled';

type Channel =
  | { status: 'absent' | 'removed' }
  | {
      status: ChannelStatus;
      settings: ChannelSettings;
      secrets: ChannelSecrets;
      /** Of its account, as last reported. Left out: it never was. */
      balance?: string;
    };

type LiveChannel = Exclude<Channel, { status: 'absent' | 'removed' }>;

export const isLiveChannel = (channel: Channel): channel is LiveChannel =>
  channel.status !== 'absent' && channel.status !== 'removed';

/** What is missing or undefined stays as it is. */
export const patched = (settings: ChannelSettings, patch: Partial<ChannelSettings>): ChannelSettings => ({
  ...settings,
  ...Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)),
});

const hasKey = ({ secrets }: LiveChannel): boolean => secrets.keyHash !== '';

const live = (channel: Channel): LiveChannel => {
  if (!isLiveChannel(channel)) throw new Failure('channel-not-found');
  return channel;
};

/** Where a channel's key is sent: the address written, else the default of its type. */
const destination = ({ baseUrl, type }: ChannelSettings, providers: ProviderTable): string => {
  const address = baseUrl || (providers.get(type)?.defaultBaseUrl ?? '');
  if (address === '') return `type ${type}`;
  return urlIn(address)?.origin ?? address;
};

/** At the beginning of an address: the scheme and host that calls of the channel go to now. */
const hostPlaceholder = /^\{host\}(?=\/|$)/;

function withHost(settings: ChannelSettings, before: ChannelSettings, providers: ProviderTable): ChannelSettings {
  const { baseUrl } = settings;
  if (!hostPlaceholder.test(baseUrl)) return settings;
  const host = destination(before, providers);
  if (urlIn(host) === null)
    throw invalidField('baseUrl', 'an http:// or https:// address; {host} only where there is one already');
  return { ...settings, baseUrl: baseUrl.replace(hostPlaceholder, host) };
}

/** The settings after an edit, checked where it changes something. */
export const editedSettings = (
  before: ChannelSettings,
  patch: Partial<ChannelSettings>,
  providers: ProviderTable,
): ChannelSettings => checkedChannelSettings(withHost(patched(before, patch), before, providers), before, providers);

/**
 * Nobody can read a stored key, so nobody may have it sent to an address of their own either: with another address, or
 * through another proxy, the key is given again. Throws `channel-key-needed`.
 */
export function checkKeyStays(
  before: ChannelSettings,
  settings: ChannelSettings,
  throughAnotherProxy: boolean,
  providers: ProviderTable,
): void {
  const changed =
    destination(before, providers) !== destination(settings, providers)
      ? settings.baseUrl === before.baseUrl
        ? 'type'
        : 'baseUrl'
      : throughAnotherProxy
        ? 'proxy'
        : null;
  if (changed !== null) throw new Failure('channel-key-needed', { field: 'key', changed });
}

const switchedBy = (order: Switching): { automatic: true } | { automatic: false; by: UserId } =>
  order.automatic ? { automatic: true } : { automatic: false, by: order.by };

const isStale = (order: Switching, { secrets }: LiveChannel): boolean => order.automatic && order.key !== secrets.key;

const isBelow = (balance: string, min: number): boolean =>
  min > 0 && isNegative(add(decimal(balance), negative(decimalOf(min))));

export const channelDecider: Decider<Channel, ChannelCommand, ChannelEvent> = {
  initial: { status: 'absent' },
  decide(command, channel) {
    switch (command.type) {
      case 'AddChannel': {
        if (channel.status !== 'absent') return [];
        const { secrets, enabled, providers, by } = command;
        const settings = checkedChannelSettings(command.settings, null, providers);
        const added: ChannelEvent = { type: 'ChannelAdded', settings, secrets, by };
        return enabled ? [added] : [added, { type: 'ChannelDisabled', automatic: false, reason: '', by }];
      }
      case 'EditChannel': {
        const before = live(channel);
        const { patch, providers } = command;
        const settings = editedSettings(before.settings, patch, providers);
        const secrets = { ...before.secrets, ...command.secrets };
        if (hasKey(before) && command.secrets.key === undefined && !command.keyMayFollow)
          checkKeyStays(
            before.settings,
            settings,
            secrets.proxy !== null && secrets.proxy !== before.secrets.proxy,
            providers,
          );
        if (isDeepStrictEqual(before.settings, settings) && isDeepStrictEqual(before.secrets, secrets)) return [];
        return [{ type: 'ChannelEdited', settings, secrets, by: command.by }];
      }
      // What was switched off by hand stays a manual decision, both ways.
      case 'EnableChannel': {
        const { automatic } = command;
        const before = live(channel);
        if (automatic ? before.status !== 'auto-disabled' : before.status === 'enabled') return [];
        if (isStale(command, before)) return [];
        if (!hasKey(before)) throw new Failure('channel-key-missing', { field: 'key' });
        return [{ type: 'ChannelEnabled', ...switchedBy(command) }];
      }
      case 'DisableChannel': {
        const { automatic, reason } = command;
        const before = live(channel);
        const { status } = before;
        if ((automatic ? status !== 'enabled' : status === 'disabled') || isStale(command, before)) return [];
        return [{ type: 'ChannelDisabled', reason, ...switchedBy(command) }];
      }
      case 'RecordChannelTest': {
        live(channel);
        const { ok, responseTimeMs, error, usage } = command;
        return [{ type: 'ChannelTested', ok, responseTimeMs, error, usage }];
      }
      case 'RecordChannelBalance': {
        const before = live(channel).balance;
        const { low, currency } = command;
        const balance = decimalText(decimal(command.balance));
        const becameLow = isBelow(balance, low) && (before === undefined || !isBelow(before, low));
        return [{ type: 'ChannelBalanceObserved', balance, ...(currency !== null && { currency }), becameLow }];
      }
      case 'RemoveChannel':
        return isLiveChannel(channel) ? [{ type: 'ChannelRemoved', by: command.by }] : [];
      default:
        return assertNever(command);
    }
  },
  evolve(channel, event) {
    switch (event.type) {
      case 'ChannelAdded':
        return { status: 'enabled', settings: event.settings, secrets: event.secrets };
      case 'ChannelEdited':
        return isLiveChannel(channel) ? { ...channel, settings: event.settings, secrets: event.secrets } : channel;
      case 'ChannelEnabled':
        return isLiveChannel(channel) ? { ...channel, status: 'enabled' } : channel;
      case 'ChannelDisabled':
        return isLiveChannel(channel)
          ? { ...channel, status: event.automatic ? 'auto-disabled' : 'disabled' }
          : channel;
      case 'ChannelTested':
        return channel;
      case 'ChannelBalanceObserved':
        return isLiveChannel(channel) ? { ...channel, balance: event.balance } : channel;
      case 'ChannelRemoved':
        return { status: 'removed' };
      default:
        return assertNever(event);
    }
  },
};
