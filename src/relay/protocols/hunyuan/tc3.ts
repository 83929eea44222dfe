import { createHash, createHmac } from 'node:crypto';
import type { Authorisation } from '../../contracts/authorisation.js';
import { NotConvertible, type UpstreamChannel } from '../../contracts/protocol.js';
import { bodyOf } from '../../upstream/request-content.js';

/*
 * Tencent Cloud's signature, TC3-HMAC-SHA256, over host, type and bytes of the content, action and time:
 * https://cloud.tencent.com/document/api/1729/101843
 */

interface Signing {
  readonly secretId: string;
  readonly apiSecret: string;
  readonly service: string;
}

interface Signed {
  readonly host: string;
  readonly contentType: string;
  readonly action: string;
  readonly body: string | Buffer;
  /** Seconds since 1970. */
  readonly timestamp: number;
}

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');

const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest();

const signedHeaders = 'content-type;host;x-tc-action';
const algorithm = 'TC3-HMAC-SHA256';

/** The `authorization` header. */
export function tc3Signature(
  { secretId, apiSecret, service }: Signing,
  { host, contentType, action, body, timestamp }: Signed,
): string {
  const headers = `content-type:${contentType}\nhost:${host}\nx-tc-action:${action.toLowerCase()}\n`;
  const canonical = ['POST', '/', '', headers, signedHeaders, sha256(body)].join('\n');
  const date = new Date(timestamp * 1000).toISOString().slice(0, 10);
  const scope = `${date}/${service}/tc3_request`;
  const toSign = [algorithm, timestamp, scope, sha256(canonical)].join('\n');
  const key = [service, 'tc3_request'].reduce((secret, part) => hmac(secret, part), hmac(`TC3${apiSecret}`, date));
  const signature = hmac(key, toSign).toString('hex');
  return `${algorithm} Credential=${secretId}/${scope}, SignedHeaders=${signedHeaders}, Signature=${signature}`;
}

/** The id of the app, which comes first, is not asked for by this signature. Throws NotConvertible. */
function secretsOf({ key }: Pick<UpstreamChannel, 'key'>): Omit<Signing, 'service'> {
  const [appId, secretId, apiSecret, ...others] = key.trim().split('|');
  if (!appId || !secretId || !apiSecret || others.length > 0)
    throw new NotConvertible('channel', 'the key of this channel is not of the form AppId|SecretId|SecretKey');
  return { secretId, apiSecret };
}

/** `service`: as it is called in the scope of the signature. */
export const byTc3 = (service: string): Authorisation => ({
  authorise(request, { channel }, { clock }) {
    const timestamp = Math.floor(clock.now() / 1000);
    const authorization = tc3Signature(
      { ...secretsOf(channel), service },
      {
        host: new URL(request.url).host,
        contentType: request.headers['content-type'] ?? '',
        action: request.headers['x-tc-action'] ?? '',
        body: bodyOf(request.content) ?? '',
        timestamp,
      },
    );
    const headers = { ...request.headers, 'x-tc-timestamp': String(timestamp), authorization };
    return { ok: true, request: { ...request, headers } };
  },
});
