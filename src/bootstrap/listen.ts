import { hashingKey } from '../adapters/vault/vault.js';
import type { Application } from '../application/application.js';
import { Failure } from '../domain/kernel/failure.js';
import type { Instant } from '../domain/kernel/instant.js';
import { origins } from '../http/origins.js';
import { listenBehind } from '../relay-process/workers/listen-behind.js';
import type { RelayWorkers } from '../relay-process/workers/relay-workers.js';
import type { NodeStart } from './node-start.js';
import type { NodeMemory } from './open-memory.js';
import type { NodeDatabase } from './open-node-database.js';
import type { NodeLog } from './open-node-log.js';
import type { NodeCalls } from './open-relay-calls.js';
import type { NodeVault } from './open-vault.js';
import { listenOn, openServer, type Server } from './server.js';

/* The port, and the faces behind it. */

interface FaceParts {
  readonly application: Application;
  readonly database: Pick<NodeDatabase, 'pool'>;
  readonly calls: NodeCalls;
  /** Begun earlier: a third of the code is theirs. */
  readonly faces: Promise<typeof import('./http-apps.js')>;
  readonly startedAt: Instant;
  readonly version: string;
  /** New calls are refused while the ones under way finish. */
  readonly isStopping: () => boolean;
}

/** The server with all its faces; it does not listen yet. */
export async function openFaces({ config, log, closing, ending }: NodeStart, parts: FaceParts): Promise<Server> {
  const { application, database, calls, startedAt, version } = parts;
  const { relay, entrance, addressOf, bodyRoom, webSockets } = calls.runtime;
  const server = openServer(config.server, {
    ...{ entrance, addressOf, log },
    isEnding: () => parts.isStopping() || ending.reason() !== null,
  });
  closing.add(() => server.app.close());
  for (const path of webSockets.paths) server.upgrades.own(path, webSockets.upgrade);
  // The listener closes when nothing is left of its connections.
  server.app.addHook('preClose', () => webSockets.end());
  void ending.begun.then(() => webSockets.finish());
  const { serveHttpApps } = await parts.faces;
  await serveHttpApps(server.app, {
    ...{ application, relay, bodyRoom, addressOf, config, startedAt, version, log, upgrades: server.upgrades },
    origins: origins({
      trustedProxies: config.server.trustedProxies,
      publicAddress: () => application.directory.settings().text('ServerAddress'),
    }),
    ping: () => database.pool.query('SELECT 1'),
  });
  return server;
}

interface ListenParts {
  readonly server: Server;
  /** null: this process listens. */
  readonly workers: RelayWorkers | null;
  readonly eventLog: Pick<NodeLog, 'store'>;
  readonly secrets: NodeVault;
  readonly memory: NodeMemory;
  readonly calls: NodeCalls;
}

/** Resolves with the port. Throws `store-unavailable` when this node has lost its database meanwhile. */
export async function listen(node: NodeStart, { server: { app }, workers, ...parts }: ListenParts): Promise<number> {
  const { config, ending, closing } = node;
  const lost = ending.reason();
  if (lost !== null) throw new Failure('store-unavailable', { reason: lost });
  const port =
    workers === null
      ? await listenOn(app, config.server)
      : await listenBehind(workers, app, closing, workerSetting(node, parts));
  // Refused everywhere, not only here.
  void ending.begun.then(() => workers?.refuse());
  return port;
}

/** What the workers of this node ask its primary, and what they are sent once. */
function workerSetting(
  { config }: NodeStart,
  { eventLog, secrets, memory, calls }: Omit<ListenParts, 'server' | 'workers'>,
) {
  const { store } = eventLog;
  const { directory, gate, tail } = memory;
  const { masterKey, samplingKey, vault } = secrets;
  const { refusalRecord, shared, meterOf } = calls;
  return {
    ports: {
      ...{ store, directory, gate, vault, refusalRecord, ...shared, meterOf },
      ...{ position: tail.position, head: () => store.head() },
    },
    setting: {
      server: config.server,
      relay: config.relay,
      outbound: config.outbound,
      logLevel: config.log.level,
      hashingKey: hashingKey(masterKey).toString('base64'),
      samplingKey: samplingKey.toString('base64'),
    },
  };
}
