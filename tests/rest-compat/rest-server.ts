import type { AddressInfo } from 'node:net';
import Fastify, { type RouteOptions } from 'fastify';
import type { Application } from '../../src/application/application.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { BodyRoom } from '../../src/http/body-room.js';
import { origins } from '../../src/http/origins.js';
import { isAllowed } from '../../src/relay/admission/ip-allow-list.js';
import { restRoutes } from '../../src/rest-compat/routes.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/gateway/test-gateway.js';
import { quietLog } from '../support/quiet-log.js';

/* The legacy interface on a port of its own, in front of a gateway on a real Postgres. */

const startedAt = Instant(1_744_300_000_123);
const version = '1.2.3';

type RestOptions = Parameters<typeof restRoutes>[1];

export interface RestServer {
  readonly url: string;
  stop(): Promise<void>;
}

const unlimited: RestOptions['rateLimits'] = { api: null, web: null };

export async function serveRest(
  application: Application,
  options: Partial<RestOptions> = {},
  onRoute: (route: RouteOptions) => void = () => {},
): Promise<RestServer> {
  const app = Fastify({ loggerInstance: quietLog as never, trustProxy: true, forceCloseConnections: true });
  app.addHook('onRoute', onRoute);
  let requests = 0;
  await app.register(restRoutes, {
    application,
    newRequestId: () => `20261121070000123request${String(++requests).padStart(3, '0')}`,
    startedAt,
    version,
    databaseType: 'postgres',
    bodyRoom: new BodyRoom({ totalBytes: 1e9, maxBytes: 1e9, unfinishedPerAddress: 1000 }),
    rateLimits: unlimited,
    allowAttempt: () => true,
    origins: origins({ trustedProxies: [], publicAddress: () => '' }),
    allowsAddress: isAllowed,
    ping: async () => true,
    identifyApiKey: async () => {
      throw new Error('nobody asked for an API key here');
    },
    ...options,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
    stop: () => app.close(),
  };
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** {} for a body that is no JSON object. */
  readonly json: Readonly<Record<string, unknown>>;
}

/** The `data` of an answer, as the test that asked for it knows it. */
export const dataOf = <Data>({ json }: Answered): Data => json.data as Data;

export interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; `raw` as it is. */
  readonly body?: unknown;
  readonly raw?: string | Buffer<ArrayBuffer>;
}

export async function send(url: string, method: string, path: string, sent: Sent = {}): Promise<Answered> {
  const body = sent.raw ?? (sent.body === undefined ? undefined : JSON.stringify(sent.body));
  const response = await fetch(url + path, {
    method,
    redirect: 'manual',
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...sent.headers },
    body,
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {},
  };
}

/** The session cookie an answer sets, as a request sends it. */
export const cookieIn = ({ headers }: Answered): string => headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';

export interface Client {
  readonly id: number;
  readonly headers: Readonly<Record<string, string>>;
  get(path: string): Promise<Answered>;
  post(path: string, body?: unknown): Promise<Answered>;
  put(path: string, body: unknown): Promise<Answered>;
  delete(path: string): Promise<Answered>;
}

/** What is asked for at orders that a stolen session must not give. */
const provenFor: Readonly<Record<string, string>> = {
  'GET /api/user/token': 'access-token',
  'PUT /api/user/self': 'password',
  'PUT /api/user/': 'password',
  'DELETE /api/user/self': 'delete-account',
  'GET /api/oauth/email/bind': 'email',
};

/** Goes on with a new session where an answer brings one; keeps one that has been signed out of, to see it refused. */
function clientWith(url: string, id: number, headers: Record<string, string>, password: string): Client {
  /** The same once more, with a proof of who asks, where that is asked for. */
  const proven = async (refused: Answered, method: string, path: string, body: unknown): Promise<Answered> => {
    const purpose = provenFor[`${method} ${path.split('?', 1)[0]}`];
    if (purpose === undefined || !String(refused.json.message).startsWith('请先完成安全验证')) return refused;
    const { json } = await send(url, 'POST', '/api/user/step_up', { headers, body: { purpose, password } });
    return send(url, method, path, { headers: { ...headers, 'x-step-up': String(json.data) }, body });
  };
  const sending = async (method: string, path: string, body?: unknown): Promise<Answered> => {
    const answer = await proven(await send(url, method, path, { headers, body }), method, path, body);
    const cookie = cookieIn(answer);
    if (cookie !== '' && cookie !== 'session=') headers.cookie = cookie;
    return answer;
  };
  return {
    id,
    headers,
    get: (path) => sending('GET', path),
    post: (path, body) => sending('POST', path, body),
    put: (path, body) => sending('PUT', path, body),
    delete: (path) => sending('DELETE', path),
  };
}

/** Signs in as a browser does. */
export async function signIn(url: string, username: string, password: string): Promise<Client> {
  const answer = await send(url, 'POST', '/api/user/login', { body: { username, password } });
  if (answer.json.success !== true) throw new Error(`could not sign in as ${username}: ${answer.text}`);
  const { id } = dataOf<{ id: number }>(answer);
  return clientWith(url, id, { cookie: cookieIn(answer), 'new-api-user': String(id) }, password);
}

export interface Cast {
  readonly gateway: TestGateway;
  readonly rest: RestServer;
  readonly url: string;
  readonly root: Client;
  readonly admin: Client;
  readonly peer: Client;
  readonly alice: Client;
  readonly bob: Client;
  readonly users: Readonly<Record<'admin' | 'peer' | 'alice' | 'bob', TestUser>>;
  stop(): Promise<void>;
}

/** Root, two administrators and two ordinary users, signed in. */
export async function openStage(
  options: Partial<RestOptions> = {},
  onRoute?: (route: RouteOptions) => void,
): Promise<Cast> {
  const gateway = await startTestGateway();
  const { application } = gateway;
  const rest = await serveRest(application, options, onRoute);
  const add = (username: string) => gateway.addUser(500_000, username);
  const users = {
    admin: await add('admin'),
    peer: await add('peer'),
    alice: await add('alice'),
    bob: await add('bob'),
  };
  for (const { actor } of [users.admin, users.peer])
    await application.visible(await application.users.manage(gateway.root, actor.id, 'promote'));
  const client = ({ username, password }: TestUser) => signIn(rest.url, username, password);
  return {
    gateway,
    rest,
    url: rest.url,
    root: await signIn(rest.url, 'root', gateway.rootPassword),
    admin: await client(users.admin),
    peer: await client(users.peer),
    alice: await client(users.alice),
    bob: await client(users.bob),
    users,
    async stop() {
      await rest.stop();
      await gateway.stop();
    },
  };
}
