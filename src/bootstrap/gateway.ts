import { createRequire } from 'node:module';
import type { Logger } from 'pino';
import { systemClock } from '../adapters/clock.js';
import { whereIs } from '../adapters/database/postgres.js';
import { adviceAtStart } from '../adapters/database/postgres-advice.js';
import { argon2Passwords } from '../adapters/sign-in/passwords.js';
import type { Application } from '../application/application.js';
import type { Clock, EventStore, Passwords } from '../application/ports/storage-ports.js';
import type { Config } from '../config.js';
import { packageRoot } from '../package-root.js';
import { Closing } from '../process/closing.js';
import { RelayWorkers } from '../relay-process/workers/relay-workers.js';
import { startBackgroundJobs } from './background-jobs.js';
import { type EarlyStart, startEarly } from './early-start.js';
import { listen, openFaces } from './listen.js';
import type { NodeStart } from './node-start.js';
import { openMemory } from './open-memory.js';
import { openNodeApplication } from './open-node-application.js';
import { openNodeDatabase } from './open-node-database.js';
import { openNodeLog } from './open-node-log.js';
import { openOutbound } from './open-outbound.js';
import { openProjections } from './open-projections.js';
import { openRelayCalls } from './open-relay-calls.js';
import { openVault } from './open-vault.js';
import { addressOf } from './server.js';
import { stopGateway } from './stop-gateway.js';

/* The composition root: config → adapters → application → faces, step by step. */

export interface Gateway {
  readonly url: string;
  /** Every path the port answers, as the router knows it. */
  readonly routes: readonly { readonly method: string; readonly url: string }[];
  readonly application: Application;
  /** The log, for who writes into it what nobody can have ordered: the past of a demo. */
  readonly store: EventStore;
  /**
   * Resolves with the reason when this node must not serve any more. New requests are refused from then on, calls under
   * way go on; whoever started the gateway is to stop it.
   */
  readonly failed: Promise<string>;
  /** Lets calls under way finish, writes what must be written, stops Postgres if it is ours. */
  stop(): Promise<void>;
}

const version: string = createRequire(packageRoot)('./package.json').version;

interface StartOptions {
  /** Processes that serve calls. 1, or left out: this one does. */
  readonly workerCount?: number;
  /** What everything in this process is dated by. Left out: the system's. */
  readonly clock?: Clock;
  /** How passwords are hashed. Left out: at the cost that they deserve. */
  readonly passwords?: Passwords;
  /** Between two looks whether a source of prices is to be fetched. Left out: a minute. */
  readonly pricesPauseMs?: number | undefined;
  /** What has been started already, and ends with the gateway. Left out: nothing. */
  readonly begun?: EarlyStart;
}

/** Throws Failure `store-unavailable` when the database cannot be used; nothing is left running then. */
export async function startGateway(config: Config, log: Logger, options: StartOptions = {}): Promise<Gateway> {
  const { workerCount = 1, begun = startEarly(config, log), pricesPauseMs } = options;
  const { clock = systemClock, passwords = argon2Passwords } = options;
  const closing = new Closing();
  const node: NodeStart = { config, log, clock, passwords, closing, ending: begun.ending, pricesPauseMs };
  try {
    return await start(node, begun, workerCount);
  } catch (error) {
    const where = await begun.opening.then(({ connection }) => whereIs(connection)).catch(() => 'DATABASE_URL');
    await node.closing.run(log);
    throw adviceAtStart(where, error);
  }
}

async function start(node: NodeStart, { projections, opening }: EarlyStart, workerCount: number): Promise<Gateway> {
  const { config, closing, ending } = node;
  const startedAt = systemClock.now();
  // With the port itself as soon as that is open.
  let url = addressOf(config.server.host, config.server.port);
  let isStopping = false;

  closing.add(async () => (await opening.catch(() => null))?.embedded?.stop());
  // Again with the read models, where it has something to finish: before what it needs is closed.
  closing.add(() => projections.stop());
  const workers = openWorkers(node, workerCount);
  const database = await openNodeDatabase(node, opening);
  const secrets = await openVault(node, database);
  const eventLog = await openNodeLog(node, database);
  const readModels = await openProjections(node, { projections, database, secrets, eventLog });
  // A third of the code is theirs: it is read while others work.
  const faces = import('./http-apps.js');
  await projections.caughtUp();

  const memory = await openMemory(node, { store: eventLog.store, readModels, workers });
  const services = openOutbound(node, { directory: memory.directory, vault: secrets.vault });
  const { pool } = database;
  const calls = openRelayCalls(node, {
    store: eventLog.store,
    vault: secrets.vault,
    personal: secrets.personal,
    memory,
    readModels,
    pool,
    workers,
  });
  // Before recovery looks for calls that nobody serves.
  await calls.background.load();
  const opened = { database, secrets, eventLog, readModels, memory, services, calls };
  const { application, notificationQueue } = await openNodeApplication(node, { ...opened, version, url: () => url });
  await startBackgroundJobs(node, { ...opened, application, notificationQueue, workers });

  const server = await openFaces(node, {
    ...{ application, database, calls, faces, startedAt, version },
    isStopping: () => isStopping,
  });
  url = addressOf(config.server.host, await listen(node, { server, workers, eventLog, secrets, memory, calls }));
  return {
    ...{ url, application, routes: server.routes, store: eventLog.store, failed: ending.begun },
    stop() {
      isStopping = true;
      return stopGateway(node, { application, server, workers, eventLog, calls });
    },
  };
}

/** null: this process serves all calls itself. They are started early, as they read their code while others work. */
function openWorkers({ log, closing, ending }: NodeStart, count: number): RelayWorkers | null {
  if (count === 1) return null;
  const workers = new RelayWorkers({ count, log, lost: (reason) => ending.begin(reason) });
  closing.add(() => workers.stop());
  return workers;
}
