import { createPrivateKey, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import type { KeyForm } from '../../../domain/channel/provider.js';
import { urlIn } from '../../../domain/kernel/address.js';
import type { Authorisation, AuthorisationPorts } from '../../contracts/authorisation.js';
import { NotConvertible, type UpstreamChannel } from '../../contracts/protocol.js';
import { isObject, parseJson, textIn } from '../../json/json.js';
import type { Granted } from '../../upstream/access-tokens.js';
import type { Confidential } from '../../upstream/confidential.js';
import { confidentialOf } from '../confidential-of.js';
import { grantedToken } from '../oauth-grant.js';

/*
 * Google's service accounts. Their key is a document; with it an assertion is signed, and for the assertion a token is
 * granted that shows whose calls they are for an hour (RFC 7523).
 */

interface ServiceAccount {
  readonly projectId: string;
  readonly clientEmail: string;
  /** Of the private key; null: the document does not say. */
  readonly keyId: string | null;
  /** PEM. */
  readonly privateKey: string;
  readonly tokenUri: string;
}

const usualTokenUri = 'https://oauth2.googleapis.com/token';
const scope = 'https://www.googleapis.com/auth/cloud-platform';
const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** The longest that is granted. */
const lifeSeconds = 3600;

const projectName = /^(?=.*[a-z0-9])[a-z0-9.:_-]{1,128}$/i;
const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** The assertion is as good as the token: it goes nowhere unsealed but to this machine. */
function mayAsk(tokenUri: string): boolean {
  const url = urlIn(tokenUri);
  if (url === null) return false;
  const { protocol, hostname, username, password } = url;
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && loopback.test(hostname));
}

const document = 'the JSON document of a service account';

/** Or what the document is to have, in words. */
function read(key: string): ServiceAccount | string {
  const account = parseJson(key);
  if (!isObject(account)) return document;
  const { type, project_id: projectId, client_email: clientEmail, private_key: privateKey, token_uri: uri } = account;
  if (type !== undefined && type !== 'service_account') return `${document}, of type service_account`;
  const missing = (name: string): string => `${document} with ${name}`;
  if (typeof projectId !== 'string' || !projectName.test(projectId)) return missing('project_id');
  if (textIn(clientEmail) === null) return missing('client_email');
  if (textIn(privateKey) === null) return missing('private_key');
  const tokenUri = uri === undefined ? usualTokenUri : uri;
  if (typeof tokenUri !== 'string' || !mayAsk(tokenUri)) return missing('token_uri, an https:// address, or none');
  const keyId = textIn(account.private_key_id);
  return { projectId, clientEmail: String(clientEmail), keyId, privateKey: String(privateKey), tokenUri };
}

/** Throws what node makes of it when it is none. */
const rsaKey = (pem: string): KeyObject => {
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyType !== 'rsa') throw new TypeError('not an RSA key');
  return key;
};

const unusableKey = `${document} with private_key, an RSA key in PEM`;

export const serviceAccountKey: KeyForm = {
  pattern: /^\s*\{/,
  allowed: document,
  instead(key) {
    const account = read(key);
    if (typeof account === 'string') return account;
    try {
      rsaKey(account.privateKey);
      return null;
    } catch {
      return unusableKey;
    }
  },
};

/** Throws NotConvertible. */
export function serviceAccountOf({ key }: UpstreamChannel): ServiceAccount {
  const account = read(key);
  if (typeof account === 'string') throw new NotConvertible('channel', `the key of this channel must be ${account}`);
  return account;
}

/** A signed JWT (RFC 7523). `now`: milliseconds since 1970. Throws NotConvertible. */
export async function assertionOf(account: ServiceAccount, now: number): Promise<string> {
  const { clientEmail, keyId, privateKey, tokenUri } = account;
  const issued = Math.floor(now / 1000);
  try {
    return await new SignJWT({ iss: clientEmail, scope, aud: tokenUri, iat: issued, exp: issued + lifeSeconds })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(keyId !== null && { kid: keyId }) })
      .sign(rsaKey(privateKey));
  } catch {
    throw new NotConvertible('channel', `the key of this channel must be ${unusableKey}`);
  }
}

const form = 'application/x-www-form-urlencoded';

async function fetchToken(
  account: ServiceAccount,
  proxy: string | null,
  confidential: Confidential,
  { clock, sideRequests }: AuthorisationPorts,
): Promise<Granted> {
  const assertion = await assertionOf(account, clock.now());
  const bytes = Buffer.from(new URLSearchParams({ grant_type: grantType, assertion }).toString());
  const question = {
    url: account.tokenUri,
    headers: { 'content-type': form, accept: 'application/json' },
    content: { kind: 'bytes', type: form, bytes },
  } as const;
  const answer = await sideRequests.post(question, proxy);
  return grantedToken(answer, { of: 'the service account', maxLifeSeconds: lifeSeconds, confidential });
}

/** Two channels with the same key but another way out ask each for themselves: one of the ways may be broken. */
const nameOf = ({ key, proxy }: UpstreamChannel): string => `${proxy ?? ''}\n${key}`;

const scheme = 'Bearer ';

export const byServiceAccount: Authorisation = {
  async authorise(request, { provider, channel }, ports) {
    const account = serviceAccountOf(channel);
    const confidential = confidentialOf(provider, channel);
    const granted = await ports.accessTokens.of(nameOf(channel), () =>
      fetchToken(account, channel.proxy, confidential, ports),
    );
    if (!granted.ok) return granted;
    const headers = { ...request.headers, authorization: scheme + granted.token };
    return { ok: true, request: { ...request, headers } };
  },
  renew({ headers }, channel, { accessTokens }) {
    accessTokens.forget(nameOf(channel), (headers.authorization ?? '').slice(scheme.length));
    return true;
  },
};
