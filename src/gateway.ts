import { lookup } from 'node:dns/promises';
import { createRequire } from 'node:module';
import { getHeapStatistics } from 'node:v8';
import type pg from 'pg';
import type { Logger } from 'pino';
import { postgresCallProgress } from './adapters/call-progress.js';
import { systemClock } from './adapters/clock.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './adapters/embedded-postgres.js';
import { postgresIds } from './adapters/ids.js';
import { readMasterKey, verifyMasterKey } from './adapters/master-key.js';
import { migrate } from './adapters/migrate.js';
import { claimOnlyNode } from './adapters/only-node.js';
import { argon2Passwords } from './adapters/passwords.js';
import { personalDataPurposes, postgresPersonalData } from './adapters/personal-data.js';
import { newClient, openPool, type PostgresConnection } from './adapters/postgres.js';
import { openPostgresEventStore } from './adapters/postgres-event-store.js';
import { longQueries, projecting, shortStatements } from './adapters/session-limits.js';
import { postgresSessions } from './adapters/sessions.js';
import { postgresUnsettledOrders } from './adapters/unsettled-orders.js';
import { postgresVault } from './adapters/vault.js';
import { type Application, openApplication } from './application/application.js';
import { handle } from './application/commands/handle.js';
import { trafficNotices } from './application/commands/notices.js';
import { setupCode } from './application/commands/setup-code.js';
import { defaultPrices } from './application/default-prices.js';
import { openEnding } from './application/ending.js';
import { newEventId } from './application/event-id.js';
import { accountSource } from './application/memory/account-source.js';
import { openDirectory } from './application/memory/directory.js';
import { directorySource, identitySource } from './application/memory/directory-source.js';
import { liveTraffic } from './application/memory/live-traffic.js';
import { openQuotaGate } from './application/memory/quota-gate.js';
import { followTail } from './application/memory/tail.js';
import { requestId } from './application/request-id.js';
import { Closing } from './closing.js';
import type { Config } from './config.js';
import { beginning, type Position } from './domain/events.js';
import { Failure } from './domain/failure.js';
import { BodyRoom } from './http/body-room.js';
import { clientAddress } from './http/client-address.js';
import { origins } from './origins.js';
import { ProjectingThread } from './projecting/projecting-thread.js';
import { dropOldVersions } from './projections/engine/rebuild.js';
import type { ProjectionRunner } from './projections/engine/runner.js';
import { watchBuilding } from './projections/engine/watch-building.js';
import { rootUserId } from './projections/models/user-queries.js';
import { openReadModels, readModels } from './projections/read-models.js';
import { callLimits } from './relay/call/call-limits.js';
import { openMeter } from './relay/call/metered.js';
import { openRelay } from './relay/call/relay.js';
import { callsUnderWay } from './relay/call/under-way.js';
import { countWrongKeys } from './relay/call/wrong-keys.js';
import { channelProbe } from './relay/callers/channel-probe.js';
import { openEntrance } from './relay/callers/entrance.js';
import { requestBodies } from './relay/callers/request-body.js';
import { LargeWork } from './relay/large-work.js';
import { providerOf, providerTable } from './relay/providers/registry.js';
import { SoundLengths } from './relay/sound-length.js';
import { preloadTokenizers } from './relay/tokens.js';
import { addressGuard } from './relay/upstream/address-guard.js';
import { AnswerRoom } from './relay/upstream/answer-room.js';
import { openUpstream } from './relay/upstream/upstream.js';
import { billingPaths } from './rest-compat/billing.js';
import { addressOf, openServer } from './server.js';
import { keepUp } from './upkeep.js';

/* The composition root: config → adapters → application → faces. */

export interface Gateway {
  readonly url: string;
  /** Every path the port answers, as the router knows it. */
  readonly routes: readonly { readonly method: string; readonly url: string }[];
  readonly application: Application;
  /**
   * Resolves with the reason when this node must not serve any more. New requests are refused from then on, calls under
   * way go on; whoever started the gateway is to stop it.
   */
  readonly failed: Promise<string>;
  /** Lets calls under way finish, writes what must be written, stops Postgres if it is ours. */
  stop(): Promise<void>;
}

const version: string = createRequire(import.meta.url)('../package.json').version;

const resolveAll = (hostname: string) => lookup(hostname, { all: true });

/** Users and API keys a node keeps in memory, each. */
const capacity = 100_000;

interface Database {
  readonly connection: PostgresConnection;
  readonly embedded: EmbeddedPostgres | null;
}

async function openDatabase({ database }: Pick<Config, 'database'>, log: Logger): Promise<Database> {
  if (database.url !== null) return { connection: { url: database.url }, embedded: null };
  const embedded = await startEmbeddedPostgres({ dataDir: database.dataDir, log });
  return { connection: embedded.connection, embedded };
}

/** Throws Failure `store-unavailable` when the database cannot be used; nothing is left running then. */
export async function startGateway(config: Config, log: Logger): Promise<Gateway> {
  const closing = new Closing();
  try {
    return await start(config, log, closing);
  } catch (error) {
    await closing.run(log);
    throw error;
  }
}

async function start(config: Config, log: Logger, closing: Closing): Promise<Gateway> {
  const startedAt = systemClock.now();
  const clock = systemClock;

  const ending = openEnding();
  const projections = new ProjectingThread({
    log,
    lost(reason) {
      log.fatal({ reason }, 'this node can no longer keep its read models; it ends rather than serve stale ones');
      ending.begin(reason);
    },
  });
  // Again below, where it has something to finish: before what it needs is closed.
  closing.add(() => projections.stop());
  const opening = openDatabase(config, log);
  // A third of the code is theirs: it is read while the database opens and the read models catch up.
  const faces = import('./faces.js');
  const { connection, embedded } = await opening;
  if (embedded !== null) closing.add(() => embedded.stop());
  const pool: pg.Pool = await openPool(connection, log, { limits: shortStatements });
  closing.add(() => pool.end());
  const onLost = (reason: string): void => {
    if (ending.reason() === null) log.fatal({ reason }, 'this node has lost its database to another one and ends');
    ending.begin(reason);
  };
  const claim = await claimOnlyNode({ connection, log, waitMs: config.database.takeoverWaitMs, onLost });
  closing.add(() => claim.release());
  // Only by the node that serves: a second one that will not start must not change the tables under the first.
  const migrating = await openPool(connection, log, { size: 1 });
  await migrate(migrating).finally(() => migrating.end());
  const masterKey = await readMasterKey(config.vault);
  await verifyMasterKey(pool, masterKey);
  const vault = postgresVault({ pool, masterKey, clock });
  const personal = postgresPersonalData({ pool, masterKey, clock });
  const sessions = postgresSessions(pool, clock);

  // From here on the log takes nothing of an earlier node, not even what is on its way; so it is read only now, and
  // whatever was reserved before is nobody's any more.
  const { epoch, head: began } = await claim.beginEpoch();
  let fencedOff = false;
  const fence = {
    epoch,
    onLost(reason: string) {
      fencedOff = true;
      onLost(reason);
    },
  };
  const store = await openPostgresEventStore({ connection, log, fence, patienceMs: config.database.appendPatienceMs });
  closing.add(() => store.close());
  const notes = postgresCallProgress(pool);
  await notes.begin(began);
  // Apart, so that nobody who looks at long lists keeps calls, sign-ins or projectors waiting for a connection.
  const lookups = await openPool(connection, log, { size: 6, limits: shortStatements });
  closing.add(() => lookups.end());
  const lists = await openPool(connection, log, { size: 8, limits: longQueries });
  closing.add(() => lists.end());
  const db = openReadModels(lookups);
  closing.add(() => projections.stop());
  await projections.start(store, {
    connection,
    keys: new Map(personalDataPurposes.map((purpose) => [purpose, masterKey.derive(purpose)])),
    lingerMs: config.projections.lingerMs,
  });
  closing.add(
    watchBuilding({
      progress: projections,
      head: began,
      // Nobody else serves this database.
      dropOld: (kept) => dropOldVersions(() => newClient(connection, projecting), readModels, kept),
      unreadable(reason) {
        log.fatal({ reason }, 'this node cannot read all of the log; it ends');
        ending.begin(reason);
      },
      log,
    }),
  );
  await projections.caughtUp();

  const directory = await openDirectory({
    store,
    source: directorySource(db, (name) => positionOf(projections, name)),
    prices: defaultPrices(),
    providers: providerTable,
    capacity,
  });
  const gate = openQuotaGate(accountSource(db, projections, store), { capacity, after: directory.position });
  const traffic = liveTraffic(clock);
  const tail = followTail(store, directory.position, [directory, gate, traffic]);
  closing.add(() => tail.stop());
  tail.ended.catch((error: unknown) => {
    log.fatal({ err: error }, 'this node can no longer follow the log; it ends rather than serve stale balances');
    ending.begin(`The event log cannot be followed: ${error instanceof Error ? error.message : String(error)}`);
  });
  await tail.reached(await store.head(), 60_000);

  const handling = handle(store, clock);
  const notices = trafficNotices(handling, log);
  const upstream = openUpstream({
    connections: config.relay.upstreamConnections,
    guard: config.relay.upstreamNetworks && addressGuard(config.relay.upstreamNetworks, resolveAll),
  });
  closing.add(() => upstream.close());
  const underWay = callsUnderWay();
  const meter = openMeter({
    store,
    gate,
    clock,
    underWay,
    newEventId,
    warn: (message, facts) => log.warn(facts, message),
  });
  const bodyRoom = openBodyRoom(config.server);
  const largeWork = new LargeWork();
  const relayPorts = {
    directory,
    gate,
    meter,
    vault,
    clock,
    upstream,
    largeWork,
    answers: new AnswerRoom(getHeapStatistics().heap_size_limit),
    providerOf,
    config: config.relay,
    log,
  };
  const relay = openRelay({
    ...relayPorts,
    bodies: requestBodies(bodyRoom, largeWork, new SoundLengths(), config.server.maxBodyBytes),
    limits: callLimits(clock),
    wrongKeys: countWrongKeys(clock),
    apiKeyStatus: notices,
    channelHealth: notices,
  });
  const application = openApplication({
    store,
    handle: handling,
    clock,
    ids: postgresIds(pool),
    unsettledOrders: postgresUnsettledOrders(pool),
    vault,
    personal,
    passwords: argon2Passwords,
    sessions,
    db: openReadModels(lists),
    progress: projections,
    identitySource: identitySource(db, personal),
    directory,
    gate,
    tail,
    traffic,
    probe: channelProbe({ ...relayPorts, root: () => rootUserId(db) }),
    setupCode: setupCode((code) =>
      log.warn(
        { code },
        `This gateway has not been set up. Whoever does it from elsewhere than this machine is asked for this code: ${code}`,
      ),
    ),
    providers: providerTable,
  });

  await application.setup.resume();
  const whereFrom = origins({
    host: config.server.host,
    trustedProxies: config.server.trustedProxies,
    publicAddress: () => directory.settings().text('ServerAddress'),
  });
  if (!whereFrom.isLoopbackOnly) await application.setup.needsCode(false);
  await keepUp(
    {
      store,
      pool,
      db,
      handle: handling,
      clock,
      tail,
      progress: projections,
      vault,
      personal,
      notes,
      underWay,
      log,
      began,
    },
    closing,
  );

  let stopping = false;
  const { app, routes } = openServer(config.server, {
    entrance: openEntrance({
      relay,
      directory,
      newRequestId: () => requestId(clock.now()),
      addressOf: clientAddress(config.server.trustedProxies),
      providerName: (type) => providerOf(type)?.name ?? null,
      elsewhere: billingPaths,
      log,
    }),
    log,
    isEnding: () => stopping || ending.reason() !== null,
  });
  closing.add(() => app.close());
  const { serveFaces } = await faces;
  await serveFaces(app, {
    application,
    relay,
    bodyRoom,
    origins: whereFrom,
    config,
    startedAt,
    version,
    log,
    ping: () => pool.query('SELECT 1'),
  });
  const lost = ending.reason();
  if (lost !== null) throw new Failure('store-unavailable', { reason: lost });
  await app.listen({ host: config.server.host, port: config.server.port });
  // Nobody waits for the tables now; the first call would.
  setImmediate(preloadTokenizers);

  return {
    url: addressOf(app, config.server.host),
    routes,
    application,
    failed: ending.begun,
    async stop() {
      // New calls are refused while the ones under way finish.
      stopping = true;
      app.server.close();
      const deadline = Date.now() + config.server.shutdownGraceMs;
      // Outcomes that the log will not take from this node are for its successor to write.
      const busy = () => relay.active() > 0 || (meter.pending() > 0 && !fencedOff);
      while (busy() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
      await closing.run(log);
    },
  };
}

const positionOf = (projections: ProjectionRunner, name: string): Position =>
  projections.status().find((model) => model.name === name)?.position ?? beginning;

function openBodyRoom({ maxBodyBytes, maxBodiesBytes, maxUnfinishedBodies }: Config['server']): BodyRoom {
  const wanted = maxBodiesBytes ?? getHeapStatistics().heap_size_limit / 4;
  return new BodyRoom({
    totalBytes: Math.max(wanted, maxBodyBytes),
    largestBytes: maxBodyBytes,
    unfinishedPerAddress: maxUnfinishedBodies,
  });
}
