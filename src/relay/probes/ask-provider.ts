import type { RelayPorts } from '../contracts/ports.js';
import type { Provider } from '../contracts/protocol.js';
import { isObject, parseJson } from '../json/json.js';
import { unreached } from '../pipeline/attempt-failure.js';
import { undoubled } from '../protocols/model-address.js';
import { NotReported, NotSupported, NotUnderstood, type ProviderQueries } from '../protocols/provider-queries.js';
import { withoutSecrets } from '../upstream/confidential.js';

export type AskProviderPorts = Pick<RelayPorts, 'clock' | 'authorising'>;

/** Whom to ask, as far as a channel says it; key and proxy are in the clear. */
interface ChannelTarget {
  /** Empty: the provider's own. */
  readonly baseUrl: string;
  readonly organization: string | null;
  readonly other: string;
  readonly key: string;
  readonly proxy: string | null;
}

interface Question<Result> {
  readonly ask: (queries: ProviderQueries) => Promise<Result>;
  /** Bytes of one answer; left out: few. */
  readonly maxBytes?: number;
}

const maxReasonLength = 300;

/**
 * Asks a provider beside the calls, through the same connections, guard and bounds as tokens are fetched with. Throws
 * NotReported with a message that holds neither key nor address.
 */
export async function askProvider<Result>(
  { clock, authorising }: AskProviderPorts,
  provider: Provider,
  asked: ChannelTarget,
  { ask, maxBytes }: Question<Result>,
): Promise<Result> {
  const own = asked.baseUrl.trim().replace(/\/+$/, '');
  const base = own || provider.defaultBaseUrl;
  const key = asked.key.trim();

  const json: ProviderQueries['json'] = async (url, headers = { authorization: `Bearer ${key}` }) => {
    const answer = await authorising.sideRequests.get(
      { url: undoubled(base, url), headers: { accept: 'application/json', ...headers } },
      asked.proxy,
      maxBytes,
    );
    if (!answer.ok) throw new NotReported(unreached(answer).error.message);
    if (answer.status !== 200) throw new NotReported(`status code: ${answer.status}`);
    const reported = parseJson(answer.body.toString('utf8'));
    if (!isObject(reported)) throw new NotUnderstood('the answer is no JSON object');
    return reported;
  };

  try {
    if (base === '') throw new NotSupported('baseUrl', 'this channel has no base URL');
    return await ask({ base, isOwnBase: own !== '', key, other: asked.other.trim(), now: clock.now(), json });
  } catch (error) {
    if (!(error instanceof NotReported)) throw error;
    error.message = withoutSecrets(error.message, asked, maxReasonLength);
    throw error;
  }
}
