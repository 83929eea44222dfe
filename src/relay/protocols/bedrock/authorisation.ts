import { Hash } from '@smithy/core/serde';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Authorisation } from '../../contracts/authorisation.js';
import type { UpstreamRequest } from '../../contracts/protocol.js';
import { bodyOf } from '../../upstream/request-content.js';
import { type Credentials, credentialsIn, isMantle } from './key.js';

const sha256 = Hash.bind(null, 'sha256');

const withHeaders = (request: UpstreamRequest, headers: Record<string, string>): UpstreamRequest => ({
  ...request,
  headers: { ...request.headers, ...headers },
});

/** Names with all values that each has. */
const valuesIn = (query: URLSearchParams): Record<string, string[]> =>
  Object.fromEntries([...new Set(query.keys())].map((name) => [name, query.getAll(name)]));

/** Signed are the host that is sent to, the type of the content, the time, and the body. `now`: milliseconds since 1970. */
async function signed(
  request: UpstreamRequest,
  { region, ...credentials }: Exclude<Credentials, { apiKey: string }>,
  now: number,
): Promise<UpstreamRequest> {
  const { protocol, hostname, host, pathname, searchParams } = new URL(request.url);
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const signer = new SignatureV4({
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== null && { sessionToken }) },
    region,
    service: isMantle(request.url) ? 'bedrock-mantle' : 'bedrock',
    sha256,
    applyChecksum: false,
  });
  // What is asked for without a body has no type.
  const type = request.headers['content-type'];
  const { headers } = await signer.sign(
    {
      method: request.method,
      protocol,
      hostname,
      path: pathname,
      query: valuesIn(searchParams),
      headers: { host, ...(type !== undefined && { 'content-type': type }) },
      body: bodyOf(request.content),
    },
    { signingDate: new Date(now) },
  );
  // The connection names the host itself, as it was signed.
  const { host: _, ...shown } = headers;
  return withHeaders(request, shown);
}

/** Amazon's signature, version 4; a key of the API is shown as it is. */
export const bedrockAuthorisation: Authorisation = {
  authorise(request, { channel }, { clock }) {
    const credentials = credentialsIn(channel);
    if ('apiKey' in credentials)
      return { ok: true, request: withHeaders(request, { authorization: `Bearer ${credentials.apiKey}` }) };
    return signed(request, credentials, clock.now()).then((whole) => ({ ok: true, request: whole }));
  },
};
