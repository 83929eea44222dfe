import { channelDecider } from '../../domain/channel/channel.js';
import type { ProviderTable } from '../../domain/channel/provider.js';
import { latestOf, type Position, streams } from '../../domain/events/events.js';
import { decimal } from '../../domain/kernel/decimal.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { ChannelId } from '../../domain/kernel/ids.js';
import type { Actor } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import type { Handle } from '../handle.js';
import { inParallel } from '../in-parallel.js';
import type { ChannelView, Directory } from '../ports/storage-ports.js';
import type { ChannelBalances } from '../ports/upstream-ports.js';

/* What is left in the accounts of channels, as their providers report it. */

interface ChannelBalancePorts {
  readonly handle: Handle;
  readonly directory: Directory;
  readonly balances: ChannelBalances;
  readonly providers: ProviderTable;
}

export interface BalancesUpdated {
  readonly updated: number;
  /** Providers that did not report it. */
  readonly failed: number;
  /** Channels whose accounts are empty, and that went out for it. */
  readonly disabled: number;
  readonly position: Position;
}

const usedUp = '余额不足';

export function channelBalanceCommands({ handle, directory, balances, providers }: ChannelBalancePorts) {
  let running: Promise<BalancesUpdated> | null = null;
  let isStopping = false;

  const observe = async (channel: ChannelView): Promise<{ balance: string; position: Position }> => {
    const { balance, currency } = await balances.of(channel);
    const stream = streams.channel(channel.id);
    const low = directory.settings().number('general_setting.low_channel_balance');
    const { position } = await handle(channelDecider, stream, {
      type: 'RecordChannelBalance',
      ...{ balance, currency, low },
    });
    return { balance, position };
  };

  /** What it came to; null: the provider did not report it, or nobody waits for it any more. */
  const update = async (channel: ChannelView): Promise<{ disabled: boolean; position: Position } | null> => {
    if (isStopping) return null;
    try {
      const { balance, position } = await observe(channel);
      if (decimal(balance).digits > 0n || !channel.settings.autoBan) return { disabled: false, position };
      const order = { type: 'DisableChannel', automatic: true, key: channel.secrets.key, reason: usedUp } as const;
      const switched = await handle(channelDecider, streams.channel(channel.id), order);
      return { disabled: switched.events.length > 0, position: latestOf([position, switched.position]) };
    } catch (error) {
      if (error instanceof Failure) return null;
      throw error;
    }
  };

  const updateAll = async (): Promise<BalancesUpdated> => {
    const channels = directory
      .serving()
      .filter(({ settings }) => providers.get(settings.type)?.reportsBalance === true);
    const results = await inParallel(channels, update);
    const updated = results.filter((result) => result !== null);
    return {
      updated: updated.length,
      failed: results.length - updated.length,
      disabled: updated.filter(({ disabled }) => disabled).length,
      position: latestOf(updated.map(({ position }) => position)),
    };
  };

  const updateOnce = (): Promise<BalancesUpdated> => {
    running ??= updateAll().finally(() => {
      running = null;
    });
    return running;
  };

  return {
    /** Asks the channel's provider. Throws `balance-not-implemented` and `balance-not-told`. */
    async updateBalance(actor: Actor, id: ChannelId): Promise<{ balance: string; position: Position }> {
      authorise(actor, 'admin');
      const channel = directory.channel(id);
      if (channel === null) throw new Failure('channel-not-found');
      return observe(channel);
    },

    /**
     * Asks for all enabled channels whose providers report it; those that do not are passed over. A channel whose
     * account is empty goes out, unless it may not go out by itself. Who orders it meanwhile waits for what is under
     * way.
     */
    updateBalances(actor: Actor): Promise<BalancesUpdated> {
      authorise(actor, 'admin');
      return updateOnce();
    },

    /** The same by the clock. */
    updateBalancesByTheClock: updateOnce,

    /** Nobody more is asked: the node stops. */
    stopAskingBalances(): void {
      isStopping = true;
    },
  };
}
