import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/* Providers of identity on loopback, which check what they are sent as the real ones do. */

/** `down`: hangs up. `slow`: says nothing. `senseless`: answers with a page for people. */
export type Mood = 'up' | 'down' | 'slow' | 'senseless';

interface Asked {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly form: URLSearchParams;
}

interface Answer {
  readonly status?: number;
  /** Where the browser is sent. */
  readonly location?: string;
  readonly body: unknown;
}

interface StandIn {
  readonly url: string;
  mood: Mood;
  readonly asked: Asked[];
  stop(): Promise<void>;
}

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/** A provider as its mood is. */
export const inMood =
  (provider: { readonly mood: Mood }, serve: Serve): Serve =>
  (request, response) => {
    if (provider.mood === 'down') request.socket.destroy();
    else if (provider.mood === 'senseless')
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>secret page of the provider</p>');
    else if (provider.mood === 'up') serve(request, response);
  };

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}

async function startStandIn(answer: (asked: Asked, url: URL) => Answer): Promise<StandIn> {
  const asked: Asked[] = [];
  const reply = (response: ServerResponse, { status = 200, location, body }: Answer): void => {
    response
      .writeHead(status, {
        ...(location === undefined ? {} : { location }),
        'content-type': 'application/json',
      })
      .end(JSON.stringify(body));
  };
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const standIn: StandIn = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mood: 'up',
    asked,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const serve: Serve = (request, response) =>
    void bodyOf(request).then((body) => {
      const url = new URL(request.url ?? '/', 'http://stand.in');
      const one = { path: url.pathname, headers: request.headers, form: new URLSearchParams(body) };
      asked.push(one);
      reply(response, answer(one, url));
    });
  server.on('request', inMood(standIn, serve));
  return standIn;
}

export const client = { id: 'client-of-ours', secret: 'secret-of-ours/+ %' };

interface Granted {
  readonly profile: unknown;
  readonly challenge: string | null;
  readonly redirectUri: string | null;
}

export interface OAuthStandIn extends StandIn {
  /** Somebody with this profile agrees to what the browser was sent with; what it is sent back with. */
  agree(authoriseAddress: string, profile: unknown): { readonly code: string; readonly state: string };
  /** The same by the address that a legacy client makes. */
  agreeToLegacy(profile: unknown, redirectUri?: string): string;
  /** Who sits before the browser, and agrees at once. */
  atDesk: unknown;
  /** What GitHub knows of the addresses of whoever signs in. */
  emails: readonly { email: string; primary: boolean; verified: boolean }[];
}

/** Both halves are encoded as in forms: RFC 6749, section 2.3.1. */
const isOurs = (authorization = ''): boolean => {
  const [, encoded = ''] = /^Basic (.+)$/.exec(authorization) ?? [];
  const parts = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  const [id, secret] = parts.map((half) => decodeURIComponent(half.replaceAll('+', ' ')));
  return id === client.id && secret === client.secret;
};

/** Codes for tokens, once, for who knows what they were given with; tokens for profiles. */
async function startOAuth(paths: {
  readonly authorise: string;
  readonly token: string;
  readonly profile: string;
  readonly basic: boolean;
}): Promise<OAuthStandIn> {
  const codes = new Map<string, Granted>();
  const tokens = new Map<string, unknown>();
  let given = 0;
  const refused: Answer = { status: paths.basic ? 400 : 200, body: { error: 'bad_verification_code' } };

  const exchanged = ({ form, headers }: Asked): Answer => {
    const known = paths.basic
      ? isOurs(headers.authorization)
      : form.get('client_id') === client.id && form.get('client_secret') === client.secret;
    const code = form.get('code') ?? '';
    const granted = codes.get(code);
    codes.delete(code);
    const verifier = form.get('code_verifier');
    const challenge = verifier === null ? null : createHash('sha256').update(verifier).digest('base64url');
    if (!known || granted === undefined || form.get('grant_type') !== 'authorization_code') return refused;
    if (granted.challenge !== challenge || granted.redirectUri !== form.get('redirect_uri')) return refused;
    const token = `token-${++given}`;
    tokens.set(token, granted.profile);
    return { body: { access_token: token, token_type: 'bearer', scope: '' } };
  };

  const standIn = await startStandIn((asked, url) => {
    if (asked.path === paths.authorise) {
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      back.search = String(
        new URLSearchParams(oauth.agree(`${standIn.url}${url.pathname}${url.search}`, oauth.atDesk)),
      );
      return { status: 302, location: back.href, body: null };
    }
    if (asked.path === paths.token) return exchanged(asked);
    const profile = tokens.get((asked.headers.authorization ?? '').replace(/^bearer /i, ''));
    if (profile === undefined) return { status: 401, body: { message: 'Bad credentials' } };
    if (asked.path === paths.profile) return { body: profile };
    if (asked.path === '/user/emails') return { body: oauth.emails };
    return { status: 404, body: {} };
  });
  const grant = (granted: Granted): string => {
    const code = `code-${++given}`;
    codes.set(code, granted);
    return code;
  };
  const oauth: OAuthStandIn = Object.assign(standIn, {
    atDesk: null as unknown,
    emails: [] as OAuthStandIn['emails'],
    agree(authoriseAddress: string, profile: unknown) {
      const address = new URL(authoriseAddress);
      const asked = address.searchParams;
      if (address.origin !== standIn.url || asked.get('client_id') !== client.id)
        throw new Error(`the browser was sent to ${authoriseAddress}`);
      if (asked.get('response_type') !== 'code' || asked.get('code_challenge_method') !== 'S256')
        throw new Error(`the browser was sent with ${asked}`);
      const code = grant({ profile, challenge: asked.get('code_challenge'), redirectUri: asked.get('redirect_uri') });
      return { code, state: asked.get('state') ?? '' };
    },
    agreeToLegacy: (profile: unknown, redirectUri: string | null = null) =>
      grant({ profile, challenge: null, redirectUri }),
  });
  return oauth;
}

export const startGithub = (): Promise<OAuthStandIn> =>
  startOAuth({
    authorise: '/login/oauth/authorize',
    token: '/login/oauth/access_token',
    profile: '/user',
    basic: false,
  });

export const startLinuxdo = (): Promise<OAuthStandIn> =>
  startOAuth({ authorise: '/oauth2/authorize', token: '/oauth2/token', profile: '/api/user', basic: true });

export interface WeChatRelay extends StandIn {
  /** Code → WeChat id. */
  readonly codes: Map<string, string>;
}

export const relayToken = 'token-of-the-relay';

export async function startWeChatRelay(): Promise<WeChatRelay> {
  const codes = new Map<string, string>();
  const standIn = await startStandIn(({ headers, path }, url) => {
    if (path !== '/api/wechat/user' || headers.authorization !== relayToken)
      return { body: { success: false, message: `wrong token, not ${relayToken}` } };
    const code = url.searchParams.get('code') ?? '';
    const id = codes.get(code);
    codes.delete(code);
    if (code === 'refused') return { body: { success: false, message: '验证码已被使用' } };
    return { body: { success: true, message: '', data: id ?? '' } };
  });
  return Object.assign(standIn, { codes });
}

export const botToken = '123456:bot-token';

/** What Telegram's widget hands over for these members; signed as https://core.telegram.org/widgets/login says. */
export function telegramSigned(members: Readonly<Record<string, string>>, token = botToken): Record<string, string> {
  const text = Object.keys(members)
    .sort()
    .map((name) => `${name}=${members[name]}`)
    .join('\n');
  const hash = createHmac('sha256', createHash('sha256').update(token).digest()).update(text).digest('hex');
  return { ...members, hash };
}
