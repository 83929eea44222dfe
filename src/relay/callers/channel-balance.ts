import type { ChannelBalances } from '../../application/ports.js';
import { decimalText } from '../../domain/decimal.js';
import { Failure } from '../../domain/failure.js';
import { unreached } from '../call/ask-upstream.js';
import type { RelayPorts } from '../ports.js';
import { BalanceNotTold } from '../protocols/balance.js';
import { isObject, parseJson } from '../protocols/json.js';
import { withoutSecrets } from '../upstream/confidential.js';

/* "What is left in the account of this channel?": small questions to its provider, with the channel's key and proxy. */

export type BalancePorts = Pick<RelayPorts, 'vault' | 'clock' | 'providerOf' | 'authorising'>;

const longestReason = 300;

export const channelBalances = ({ vault, clock, providerOf, authorising }: BalancePorts): ChannelBalances => ({
  async of({ settings, secrets }) {
    const provider = providerOf(settings.type);
    if (provider?.balance === undefined) throw new Failure('balance-not-implemented');
    const key = await vault.get(secrets.key);
    if (key === null) throw new Failure('balance-not-told', { reason: 'the key of the channel is missing' });
    const proxy = secrets.proxy === null ? null : await vault.get(secrets.proxy);
    const own = settings.baseUrl.replace(/\/+$/, '');

    const json = async (url: string, headers: Record<string, string> = { authorization: `Bearer ${key}` }) => {
      const answer = await authorising.sideRequests.get(
        { url, headers: { accept: 'application/json', ...headers } },
        proxy,
      );
      if (!answer.ok) throw new BalanceNotTold(unreached(answer).error.message);
      if (answer.status !== 200) throw new BalanceNotTold(`status code: ${answer.status}`);
      const told = parseJson(answer.body.toString('utf8'));
      if (!isObject(told)) throw new BalanceNotTold('the answer is no JSON object');
      return told;
    };

    try {
      const base = own || provider.defaultBaseUrl;
      if (base === '') throw new BalanceNotTold('this channel has no base URL');
      return decimalText(await provider.balance({ base, isOwnBase: own !== '', key, now: clock.now(), json }));
    } catch (error) {
      if (!(error instanceof BalanceNotTold)) throw error;
      const confidential = { ...settings, key, proxy };
      throw new Failure('balance-not-told', { reason: withoutSecrets(error.message, confidential, longestReason) });
    }
  },
});
