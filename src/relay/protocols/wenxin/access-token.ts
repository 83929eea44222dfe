import type { Authorisation, AuthorisationPorts } from '../../contracts/authorisation.js';
import { NotConvertible, type Provider, type UpstreamChannel } from '../../contracts/protocol.js';
import type { Granted } from '../../upstream/access-tokens.js';
import { noContent } from '../../upstream/request-content.js';
import { confidentialOf } from '../confidential-of.js';
import { grantedToken } from '../oauth-grant.js';
import { baseOf } from '../request-builder.js';

/*
 * For its pair of keys Baidu grants a token for thirty days, which stands in the address of each call
 * (https://ai.baidu.com/ai-doc/REFERENCE/Ck3dwjhhu). Baidu itself is asked for it, whoever runs a base of the operator's:
 * the secret key is nobody else's. A base on this machine serves both.
 */

const loopback = /^https?:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?(\/|$)/;

function tokenHost(provider: Provider, channel: UpstreamChannel): string {
  const base = baseOf(provider, channel);
  return loopback.test(base) ? base : provider.defaultBaseUrl;
}

const maxLifeSeconds = 30 * 24 * 60 * 60;
const parameter = 'access_token';

interface KeyPair {
  readonly apiKey: string;
  readonly apiSecret: string;
}

/** Throws NotConvertible. */
function keyPairOf({ key }: Pick<UpstreamChannel, 'key'>): KeyPair {
  const [apiKey, apiSecret, ...others] = key.trim().split('|');
  if (!apiKey || !apiSecret || others.length > 0)
    throw new NotConvertible('channel', 'the key of this channel is not of the form APIKey|SecretKey');
  return { apiKey, apiSecret };
}

/** All that a token depends on, the way to it included. */
const nameOf = ({ key, proxy, baseUrl }: UpstreamChannel): string => `wenxin\n${proxy ?? ''}\n${baseUrl}\n${key}`;

async function fetchToken(
  provider: Provider,
  channel: UpstreamChannel,
  { apiKey, apiSecret }: KeyPair,
  { sideRequests }: AuthorisationPorts,
): Promise<Granted> {
  const query = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: apiKey,
    client_secret: apiSecret,
  });
  const url = `${tokenHost(provider, channel)}/oauth/2.0/token?${query}`;
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const answer = await sideRequests.post({ url, headers, content: noContent }, channel.proxy);
  const confidential = confidentialOf(provider, channel);
  return grantedToken(answer, { of: 'the pair of keys', maxLifeSeconds, confidential });
}

export const wenxinAuthorisation: Authorisation = {
  async authorise(request, { provider, channel }, ports) {
    const keys = keyPairOf(channel);
    const granted = await ports.accessTokens.of(nameOf(channel), () => fetchToken(provider, channel, keys, ports));
    if (!granted.ok) return granted;
    return {
      ok: true,
      request: { ...request, url: `${request.url}?${parameter}=${encodeURIComponent(granted.token)}` },
    };
  },
  renew({ url }, channel, { accessTokens }) {
    accessTokens.forget(nameOf(channel), new URL(url).searchParams.get(parameter) ?? '');
    return true;
  },
};
