import type { ChannelBalances } from '../../application/ports/upstream-ports.js';
import { decimalText } from '../../domain/kernel/decimal.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { RelayPorts } from '../contracts/ports.js';
import { NotReported } from '../protocols/provider-queries.js';
import { type AskProviderPorts, askProvider } from './ask-provider.js';

/* "What is left in the account of this channel?": small questions to its provider, with the channel's key and proxy. */

type BalancePorts = AskProviderPorts & Pick<RelayPorts, 'vault' | 'providerOf'>;

export const channelBalances = ({ vault, providerOf, ...ports }: BalancePorts): ChannelBalances => ({
  async of({ settings, secrets }) {
    const provider = providerOf(settings.type);
    const wire = provider?.balance;
    if (provider === null || wire === undefined) throw new Failure('balance-not-implemented');
    const key = await vault.get(secrets.key);
    if (key === null) throw new Failure('balance-not-told', { reason: 'the key of the channel is missing' });
    const proxy = secrets.proxy === null ? null : await vault.get(secrets.proxy);
    try {
      const { amount, currency } = await askProvider(ports, provider, { ...settings, key, proxy }, { ask: wire });
      return { balance: decimalText(amount), currency };
    } catch (error) {
      if (!(error instanceof NotReported)) throw error;
      throw new Failure('balance-not-told', { reason: error.message });
    }
  },
});
