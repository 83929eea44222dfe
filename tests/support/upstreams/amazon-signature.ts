import { createHash, createHmac } from 'node:crypto';
import type { UpstreamCall } from './upstream.js';

/* Amazon's signature, version 4, worked out by hand from what came over the wire. */

export interface Signer {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  /** Left out: bedrock. */
  readonly service?: string;
}

type SignedCall = Pick<UpstreamCall, 'url' | 'headers' | 'body'> & { readonly method?: string };

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** All but letters, digits and `-._~`. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);

/** What `authorization` must say. Of the path each segment, which is encoded already, is encoded again. */
export function authorizationFor({ method = 'POST', url, headers, body }: SignedCall, signer: Signer): string {
  const { accessKeyId, secretAccessKey, region, service = 'bedrock' } = signer;
  const time = String(headers['x-amz-date']);
  const day = time.slice(0, 8);
  const names = ['content-type', 'host', 'x-amz-date', 'x-amz-security-token'].filter((name) => name in headers);
  const [place = '', query = ''] = url.split('?');
  const path = place.split('/').map(encoded).join('/');
  const pairs = [...new URLSearchParams(query)].map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  const signed = names.join(';');
  const lines = names.map((name) => `${name}:${headers[name]}\n`).join('');
  const canonical = `${method}\n${path}\n${pairs.sort().join('&')}\n${lines}\n${signed}\n${sha256(body)}`;
  const scope = `${day}/${region}/${service}/aws4_request`;
  const toSign = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${sha256(canonical)}`;
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
  const signature = hmac(key, toSign).toString('hex');
  return `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`;
}
