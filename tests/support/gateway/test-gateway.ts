import { pino } from 'pino';
import type { PostgresConnection } from '../../../src/adapters/database/postgres.js';
import type { Application } from '../../../src/application/application.js';
import type { Clock } from '../../../src/application/ports/storage-ports.js';
import type { SessionProof, StepUpPurpose } from '../../../src/application/session-proof.js';
import { untilVisible } from '../../../src/application/until-visible.js';
import { startEarly } from '../../../src/bootstrap/early-start.js';
import { type Gateway, startGateway } from '../../../src/bootstrap/gateway.js';
import { type Config, readConfig } from '../../../src/config.js';
import { type SimulatedProvider, startSimulatedProvider } from '../../../src/demo/simulated-provider.js';
import type { ChannelSettings } from '../../../src/domain/channel/channel-settings.js';
import type { Position } from '../../../src/domain/events/events.js';
import type { ChannelId, UserId } from '../../../src/domain/kernel/ids.js';
import type { Instant } from '../../../src/domain/kernel/instant.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import type { BudgetPeriod } from '../../../src/domain/ledger/budget.js';
import type { PricePeriods } from '../../../src/domain/pricing/records/model-price.js';
import type { Actor } from '../../../src/domain/user/user.js';
import { channelSettings } from '../given/channel-settings.js';
import { createGatewayDatabase, type TestDatabase } from '../postgres/postgres.js';
import { isBuilt } from './built.js';
import { quickPasswords } from './quick-passwords.js';
import { signIn } from './sign-in.js';

/* The whole gateway on a database of its own, set up, with a simulated provider behind it. */

export interface TestUser {
  readonly actor: Actor;
  readonly username: string;
  readonly password: string;
}

interface TestApiKeyTerms {
  /** Left out: unlimited. */
  readonly quota?: number;
  /** Left out: any. */
  readonly models?: readonly string[];
  readonly group?: string;
  readonly expiresAt?: Instant;
  readonly allowIps?: readonly string[];
  readonly budget?: { readonly quota: number; readonly period: BudgetPeriod };
}

export interface TestGateway {
  readonly url: string;
  /** Leads to the gateway's data, for those who check it from outside. */
  readonly config: Config;
  readonly application: Application;
  /** The log, for what nobody can order. */
  readonly store: Gateway['store'];
  readonly provider: SimulatedProvider;
  readonly root: Actor;
  readonly rootPassword: string;
  /** See Gateway. */
  readonly routes: Gateway['routes'];
  /** Every line the gateway has logged. */
  readonly logged: readonly string[];
  /** See Gateway. */
  readonly failed: Promise<string>;
  addChannel(settings?: Partial<ChannelSettings> & { key?: string }): Promise<ChannelId>;
  addUser(quota: number, username?: string): Promise<TestUser>;
  /** With `sk-`. */
  addApiKey(user: Pick<TestUser, 'actor'>, terms?: TestApiKeyTerms): Promise<string>;
  /** With what an order is given that the user has just proven who they are for. */
  proven(user: Pick<TestUser, 'actor' | 'password'>, purpose: StepUpPurpose): Promise<SessionProof>;
  setOption(key: string, value: string): Promise<void>;
  /** The record of this model in the price table; null: it has none. */
  setPrice(model: string, periods: PricePeriods | null): Promise<void>;
  available(user: TestUser): Promise<number>;
  /** The gateway alone: what it has written stays for another one to serve, until `stop`. */
  stopKeepingData(): Promise<void>;
  stop(): Promise<void>;
}

/** What a channel of the test gateway serves unless a test says otherwise. */
export const servedModels = ['gpt-4o-mini', 'gpt-4o', 'text-embedding-3-small'];
const password = 'correct-horse';
/** CONTRIBUTING.md says when there are several. */
const usualWorkers = Number(process.env.TEST_WORKERS ?? 1);

/** Read from the sources, the thread of the projectors takes five times the processor time to start. */
const projectingThread = isBuilt ? { projectingEntry: new URL('../../../dist/thread.js', import.meta.url) } : {};

/** How a gateway is configured to serve this database. */
export function configFor(
  { connection }: Pick<TestDatabase, 'connection'>,
  env: Readonly<Record<string, string>> = {},
): Config {
  if ('url' in connection) throw new Error('the test database is expected on a socket');
  const { host, user, database: name, port = 5432 } = connection;
  return readConfig({
    PORT: '0',
    SECRET_KEY: 'a-secret-key-for-tests-of-forty-characters',
    DATABASE_URL: `postgres://${user}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`,
    GLOBAL_API_RATE_LIMIT_ENABLE: 'false',
    GLOBAL_WEB_RATE_LIMIT_ENABLE: 'false',
    CRITICAL_RATE_LIMIT_ENABLE: 'false',
    PROJECTION_LINGER_MS: '5',
    // Tests dial nothing but this machine.
    OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8',
    OUTBOUND_ALLOW_HTTP: 'true',
    ...env,
  });
}

export interface TestGatewayOptions {
  /** The way to the database, if not the straight one. */
  readonly reach?: (connection: PostgresConnection) => Promise<PostgresConnection>;
  /** Processes that serve calls, if not this one. */
  readonly workers?: number;
  /** Of this process, if not the system's: workers have their own. */
  readonly clock?: Clock;
  /** Between two looks whether a source of prices is to be fetched. */
  readonly pricesPauseMs?: number;
}

export async function startTestGateway(
  env: Readonly<Record<string, string>> = {},
  { reach = async (connection) => connection, workers = usualWorkers, clock, pricesPauseMs }: TestGatewayOptions = {},
): Promise<TestGateway> {
  const database = await createGatewayDatabase();
  const config = configFor({ connection: await reach(database.connection) }, env);
  const logged: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) });
  const provider = await startSimulatedProvider();
  const begun = startEarly(config, log, projectingThread);
  const gateway = await startGateway(config, log, {
    workerCount: workers,
    passwords: quickPasswords,
    begun,
    pricesPauseMs,
    ...(clock && { clock }),
  });
  /** A face answers without what is not visible in time; a test on a busy machine waits on. */
  const visible = async (position: Position): Promise<true> => {
    await untilVisible(gateway.application, position, 24_000);
    return true;
  };
  const application = { ...gateway.application, visible };
  const rootPassword = 'root-password-1';
  await application.visible(
    await application.setup.complete({
      username: 'root',
      password: rootPassword,
      confirmPassword: rootPassword,
      mode: 'external',
    }),
  );
  const { user: rootUser } = await signIn(application.identity, 'root', rootPassword);
  const root: Actor = { id: rootUser.id, role: rootUser.role };
  let users = 0;

  return {
    url: gateway.url,
    routes: gateway.routes,
    config,
    application,
    store: gateway.store,
    provider,
    root,
    rootPassword,
    logged,
    failed: gateway.failed,
    async addChannel({ key = 'sk-upstream-key', ...settings } = {}) {
      const { ids, position } = await application.channels.add(root, {
        settings: channelSettings({ name: 'upstream', models: servedModels, baseUrl: provider.url, ...settings }),
        key,
        proxy: '',
        enabled: true,
      });
      await visible(position);
      const [id] = ids;
      if (id === undefined) throw new Error('no channel was added');
      return id;
    },
    async addUser(quota, username = `user${++users}`) {
      const { id, position } = await application.users.create(root, { username, password, displayName: '' });
      await visible(position);
      if (quota !== 0) await visible(await application.users.adjustQuota(root, id as UserId, { delta: quota }));
      return { actor: { id, role: 'ordinary' }, username, password };
    },
    async proven({ actor, password }, purpose) {
      const proof = { kind: 'password', password } as const;
      const session = 'a test';
      const scope = { user: actor.id, session, purpose };
      return { session, stepUp: await application.stepUps.prove(scope, proof, '192.0.2.9') };
    },
    async addApiKey({ actor }, { quota, models, group = '', expiresAt = null, allowIps = [], budget } = {}) {
      const { key, position } = await application.apiKeys.issue(actor, {
        quota: quota ?? 0,
        terms: {
          name: 'test key',
          unlimited: quota === undefined,
          expiresAt,
          modelLimitsEnabled: models !== undefined,
          modelLimits: models ?? [],
          allowIps,
          group,
          budget: budget === undefined ? null : { ...budget, quota: Quota(budget.quota) },
        },
      });
      await visible(position);
      return `sk-${key}`;
    },
    async setOption(key, value) {
      await visible(await application.options.change(root, key, value));
    },
    async setPrice(model, periods) {
      const orders = [{ model, periods, seenAt: null }];
      await visible(await application.prices.changePrices(root, orders, { kind: 'editor' }));
    },
    available: ({ actor }) => application.gate.available(actor.id),
    stopKeepingData: () => gateway.stop(),
    async stop() {
      await gateway.stop();
      await provider.stop();
      await database.drop();
    },
  };
}
