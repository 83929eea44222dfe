import { NotConvertible, type Provider, type UpstreamChannel } from '../../contracts/protocol.js';
import type { Confidential } from '../../upstream/confidential.js';
import { confidentialOf } from '../confidential-of.js';
import { baseOf } from '../request-builder.js';

/* What a channel's key says: who asks, and in which region. A key of the API has two parts, a pair that signs three or four. */

export type Credentials = { readonly region: string } & (
  | { readonly apiKey: string }
  | {
      readonly accessKeyId: string;
      readonly secretAccessKey: string;
      /** null: the pair is for good. */
      readonly sessionToken: string | null;
    }
);

/** A region is a part of the host's name: nothing in it may end that part. */
export const bedrockKey = {
  pattern: /^[^|\s]+\|(?:[^|\s]+\|)?[a-z\d-]{1,32}$|^[^|\s]+\|[^|\s]+\|[a-z\d-]{1,32}\|[^|\s]+$/,
  allowed:
    'AccessKeyId|SecretAccessKey|Region, a fourth part being a session token, or ApiKey|Region; a region is made like us-east-1',
};

/** Throws NotConvertible. */
export function credentialsIn({ key }: Pick<UpstreamChannel, 'key'>): Credentials {
  const text = key.trim();
  if (!bedrockKey.pattern.test(text))
    throw new NotConvertible('channel', `the key of this channel must be ${bedrockKey.allowed}`);
  const [first = '', second = '', region = '', sessionToken = null] = text.split('|');
  return region === ''
    ? { region: second, apiKey: first }
    : { region, accessKeyId: first, secretAccessKey: second, sessionToken };
}

/** What must not be read in an answer. The region is a part of the host, and no secret beside it. */
export function confidentialIn(provider: Provider, channel: UpstreamChannel): Confidential {
  const { region, ...secrets } = credentialsIn(channel);
  const key = Object.values(secrets).join('|');
  return { ...confidentialOf(provider, placed(provider, channel)), key };
}

/** Whether a base URL is of Amazon's second engine, whose requests are signed for a service of its own. */
export const isMantle = (baseUrl: string): boolean => /^https?:\/\/bedrock-mantle\./.test(baseUrl.trim());

/** The channel with the host of its region, where the operator has named no other. Throws NotConvertible. */
export function placed(provider: Provider, channel: UpstreamChannel): UpstreamChannel {
  const { region } = credentialsIn(channel);
  const own = `https://bedrock-runtime.${region}.amazonaws.com`;
  return { ...channel, baseUrl: baseOf({ ...provider, defaultBaseUrl: own }, channel) };
}
