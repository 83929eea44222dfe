import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { Application } from '../../src/application/application.js';
import { attachSubscriptions } from '../../src/graphql/live/subscriptions.js';
import type { GraphqlOptions } from '../../src/graphql/server/context.js';
import { graphqlRoutes } from '../../src/graphql/server/routes.js';
import { BodyRoom } from '../../src/http/body-room.js';
import { clientAddress } from '../../src/http/client-address.js';
import { origins } from '../../src/http/origins.js';
import { UpgradeRouter } from '../../src/http/upgrade-router.js';
import { TokenBuckets } from '../../src/rate-limit/token-bucket.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/gateway/test-gateway.js';

/* The GraphQL face on a port of its own, over the application of a whole gateway. */

export interface AnsweredError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: {
    readonly code: string;
    readonly kind: string;
    readonly details?: Readonly<Record<string, unknown>>;
  };
}

/** Any JSON object; tests look at what they asked for. */
// biome-ignore lint/suspicious/noExplicitAny: answers have the shape of the query, which is text here
export type Data = Record<string, any>;

export interface Answer {
  readonly status: number;
  readonly data: Data | null;
  readonly errors: readonly AnsweredError[];
  /** The body as it came. */
  readonly text: string;
  readonly setCookie: string | null;
}

type Variables = Readonly<Record<string, unknown>>;

export class GraphqlClient {
  cookie = '';
  private password = '';

  constructor(
    readonly url: string,
    readonly headers: Readonly<Record<string, string>> = { 'x-tallygate-client': 'test' },
  ) {}

  async send(query: string, variables: Variables = {}, init: RequestInit = {}): Promise<Answer> {
    const response = await fetch(`${this.url}/graphql`, {
      method: 'POST',
      body: JSON.stringify({ query, variables }),
      ...init,
      headers: {
        'content-type': 'application/json',
        ...(this.cookie === '' ? {} : { cookie: this.cookie }),
        ...this.headers,
        ...init.headers,
      },
    });
    const text = await response.text();
    const { data = null, errors = [] } = JSON.parse(text) as Partial<Answer>;
    const setCookie = response.headers.get('set-cookie');
    const set = response.headers.getSetCookie();
    // Others know the browser before anybody has signed in, and are not what a test asks for.
    const own = ['session=', 'half-sign-in='].map((name) => set.find((cookie) => cookie.startsWith(name)));
    this.cookie = (own[0] ?? own[1])?.split(';', 1)[0] ?? this.cookie;
    return { status: response.status, data, errors, text, setCookie };
  }

  /** The data; throws when there are errors. */
  async ask(query: string, variables: Variables = {}): Promise<Data> {
    const { data, errors, text } = await this.send(query, variables);
    if (errors.length > 0 || data === null) throw new Error(`the operation failed: ${text}`);
    return data;
  }

  /** The one error of an operation that is to fail. */
  async refusal(query: string, variables: Variables = {}): Promise<AnsweredError['extensions']> {
    const { errors, text } = await this.send(query, variables);
    const [error] = errors;
    if (error === undefined) throw new Error(`the operation was not refused: ${text}`);
    return error.extensions;
  }

  async signIn(username: string, password: string): Promise<this> {
    await this.ask(
      'mutation ($username: String!, $password: String!) { login(username: $username, password: $password) { user { id } } }',
      {
        username,
        password,
      },
    );
    this.password = password;
    return this;
  }

  /** What a step-up by the password has answered; `purpose` as in the schema. */
  async proven(purpose: string): Promise<string> {
    const { stepUp } = await this.ask(
      'mutation ($purpose: StepUpPurpose!, $password: String!) { stepUp(purpose: $purpose, password: $password) }',
      { purpose, password: this.password },
    );
    return stepUp;
  }

  async accessToken(): Promise<string> {
    const { issueAccessToken } = await this.ask(
      'mutation ($stepUp: String) { issueAccessToken(stepUp: $stepUp) { token } }',
      { stepUp: await this.proven('ACCESS_TOKEN') },
    );
    return issueAccessToken.token;
  }
}

/** One subscription: its results in order, as they come. */
export class Feed {
  readonly results: Data[] = [];
  readonly errors: unknown[] = [];
  ended = false;
  private wake: () => void = () => {};
  private readonly unsubscribe: () => void;

  constructor(client: Client, query: string, variables: Variables = {}) {
    this.unsubscribe = client.subscribe<Data>(
      { query, variables: { ...variables } },
      {
        next: ({ data, errors }) => {
          if (errors) this.errors.push(...errors);
          else this.results.push(data as Data);
          this.wake();
        },
        error: (error) => {
          this.errors.push(...(Array.isArray(error) ? error : [error]));
          this.ended = true;
          this.wake();
        },
        complete: () => {
          this.ended = true;
          this.wake();
        },
      },
    );
  }

  /** Resolves when the condition holds; it is looked at after every message. */
  async until(condition: (feed: Feed) => boolean): Promise<this> {
    while (!condition(this)) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    return this;
  }

  /** The first `count` results. */
  async take(count: number): Promise<Data[]> {
    await this.until(({ results, errors }) => results.length >= count || errors.length > 0);
    if (this.errors.length > 0) throw new Error(`the subscription failed: ${JSON.stringify(this.errors)}`);
    return this.results.slice(0, count);
  }

  /** The first error, for a subscription that is to be refused. */
  async refusal(): Promise<AnsweredError['extensions']> {
    await this.until(({ errors }) => errors.length > 0);
    return (this.errors[0] as AnsweredError).extensions;
  }

  stop(): void {
    this.unsubscribe();
  }
}

export interface GraphqlServer {
  readonly gateway: TestGateway;
  readonly url: string;
  /** Everything this face has logged. */
  readonly logged: readonly Readonly<Record<string, unknown>>[];
  readonly root: GraphqlClient;
  anonymous(headers?: Readonly<Record<string, string>>): GraphqlClient;
  as(user: TestUser): Promise<GraphqlClient>;
  /** A user who is an administrator. */
  addAdmin(username: string): Promise<TestUser>;
  addAuditor(username: string): Promise<TestUser>;
  /** A connection that carries the client's cookie; closed with the server. */
  connect(client: GraphqlClient, options?: ConnectOptions): Client;
  /** One call with the key, answered; throws when it is not. */
  call(apiKey: string, model?: string): Promise<void>;
  stop(): Promise<void>;
}

interface ConnectOptions {
  /** Of another face over the same application. */
  readonly url?: string;
  readonly origin?: string;
  readonly authorization?: string;
  readonly retryAttempts?: number;
  readonly onClosed?: (event: unknown) => void;
}

/** The face over an application, on a free port of loopback. */
export async function serveGraphql(
  application: Application,
  overrides: Partial<GraphqlOptions> = {},
  { recheckMs = 15_000 }: { readonly recheckMs?: number } = {},
) {
  const logged: Record<string, unknown>[] = [];
  const options: GraphqlOptions = {
    application,
    version: '1.2.3',
    startedAt: 1_767_323_045_678,
    bodyRoom: new BodyRoom({ totalBytes: 1e9, maxBytes: 1e9, unfinishedPerAddress: 1000 }),
    work: new TokenBuckets({ perMinute: 1e9 }, { now: Date.now }),
    addressOf: clientAddress([]),
    limits: { depth: 10, cost: 5000 },
    openIntrospection: false,
    allowAttempt: () => true,
    origins: origins({
      trustedProxies: [],
      publicAddress: () => application.directory.settings().text('ServerAddress'),
    }),
    log: { error: (facts, message) => void logged.push({ ...facts, message }) },
    ...overrides,
  };
  const app = Fastify({ trustProxy: true });
  await graphqlRoutes(app, options);
  const upgrades = new UpgradeRouter((error) => options.log.error({ error: String(error) }, 'an upgrade failed'));
  upgrades.listenTo(app.server);
  const detach = attachSubscriptions(upgrades, options, { recheckMs });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    logged,
    async stop() {
      await detach();
      await app.close();
    },
  };
}

export async function startGraphql(
  overrides: Partial<GraphqlOptions> = {},
  timing: { readonly recheckMs?: number } = {},
): Promise<GraphqlServer> {
  const gateway = await startTestGateway();
  const face = await serveGraphql(gateway.application, overrides, timing);
  const { url, logged } = face;
  const connections = new Set<Client>();
  const root = await new GraphqlClient(url).signIn('root', gateway.rootPassword);
  const addStaff = async (username: string, role: 'admin' | 'auditor'): Promise<TestUser> => {
    const { application } = gateway;
    const password = 'correct-horse';
    const { id, position } = await application.users.create(gateway.root, {
      username,
      password,
      displayName: '',
      role,
    });
    await application.visible(position);
    return { actor: { id, role }, username, password };
  };

  return {
    gateway,
    url,
    logged,
    root,
    anonymous: (headers) => new GraphqlClient(url, headers),
    as: ({ username, password }) => new GraphqlClient(url).signIn(username, password),
    addAdmin: (username) => addStaff(username, 'admin'),
    addAuditor: (username) => addStaff(username, 'auditor'),
    connect(client, { url: to = url, origin = to, authorization, retryAttempts = 0, onClosed } = {}) {
      class Socket extends WebSocket {
        constructor(address: string, protocols: string[]) {
          const cookie = client.cookie === '' ? {} : { cookie: client.cookie };
          super(address, protocols, { headers: { origin, ...cookie } });
        }
      }
      const connection = createClient({
        url: `${to.replace('http', 'ws')}/graphql`,
        webSocketImpl: Socket,
        connectionParams: authorization === undefined ? undefined : { authorization },
        retryAttempts,
        shouldRetry: () => retryAttempts > 0,
        on: { closed: (event) => onClosed?.(event) },
      });
      connections.add(connection);
      return connection;
    },
    async call(apiKey, model = 'gpt-4o') {
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'What is a ledger?' }] }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`the call failed: ${text}`);
    },
    async stop() {
      for (const connection of connections) await connection.dispose();
      await face.stop();
      await gateway.stop();
    },
  };
}
