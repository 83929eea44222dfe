import type { ChannelTestUsage } from '../../domain/channel/channel.js';
import type { ChannelSettings } from '../../domain/channel/channel-settings.js';
import type { EngineId } from '../../domain/channel/engines.js';
import type { Mode } from '../../domain/channel/provider.js';
import type { ChannelView } from './storage-ports.js';

/* What the application asks of upstreams beside calls. */

export interface ProbeResult {
  readonly ok: boolean;
  /** Why not; '' when ok. Never a key or an upstream address. */
  readonly message: string;
  readonly responseTimeMs: number;
  readonly usage: ChannelTestUsage | null;
  /** Set when the failure says that the channel itself is out of order: why. */
  readonly outOfOrder: string | null;
}

/** Sends a channel one small request, charging nobody. */
export interface ChannelProbe {
  /** `model` '': the channel's test model, else its first. Throws `price-missing`: then nothing has been sent. */
  test(channel: ChannelView, model: string): Promise<ProbeResult>;
}

/** Asks providers what is left in the accounts of channels. */
export interface ChannelBalances {
  /**
   * `balance`: decimal text; `currency`: by ISO 4217, null where nobody says which. Throws `balance-not-implemented` for
   * types that report none, and `balance-not-told` with a reason that holds neither key nor address.
   */
  of(channel: ChannelView): Promise<{ readonly balance: string; readonly currency: string | null }>;
}

/** Where models are asked for; key and proxy are in the clear. */
export interface UpstreamConnection extends Pick<ChannelSettings, 'type' | 'baseUrl' | 'other' | 'organization'> {
  readonly key: string;
  readonly proxy: string | null;
}

/** What answers at an address that may be one of an engine. */
export interface FoundEngine {
  /** null: none of those that are known. */
  readonly id: EngineId | null;
  /** null: it reports none. */
  readonly version: string | null;
  /** Of a channel: without a slash, and without the version of the paths below it. */
  readonly baseUrl: string;
  readonly models: readonly string[];
  /** It has refused a question for want of a key. */
  readonly needsKey: boolean;
}

/** Looks which engine answers at an address. */
export interface Engines {
  /** Throws `engine-unreached` with a reason that holds neither key nor address. */
  at(address: { readonly baseUrl: string; readonly key: string; readonly proxy: string | null }): Promise<FoundEngine>;
}

/** A model, as the list of a provider has it. */
export interface UpstreamModel {
  readonly name: string;
  /** What it can be asked to do: empty where that is nothing of what is served here; null: the list does not say. */
  readonly modes: readonly Mode[] | null;
}

/** Asks providers which models they have. */
export interface UpstreamModels {
  /**
   * Models, each once, whose names a channel can carry, in the provider's order. Throws `models-not-listed` for types that list
   * none; `models-not-askable` where the channel lacks what is needed to ask; `models-not-told`, and `models-unreadable` for what is no list, with a reason that holds neither key nor
   * address.
   */
  of(connection: UpstreamConnection): Promise<readonly UpstreamModel[]>;
}
