import { createRequire } from 'node:module';
import type pg from 'pg';
import type { Logger } from 'pino';
import { postgresCallProgress } from '../adapters/call-progress.js';
import { systemClock } from '../adapters/clock.js';
import { checkConnections, checkDatabase } from '../adapters/database/check-database.js';
import { migrate } from '../adapters/database/migrate.js';
import { claimOnlyNode } from '../adapters/database/only-node.js';
import { newClient, openPool, whereIs } from '../adapters/database/postgres.js';
import { toldAtStart } from '../adapters/database/postgres-advice.js';
import { longQueries, projecting, shortStatements } from '../adapters/database/session-limits.js';
import { postgresEventLog } from '../adapters/event-log/postgres-event-log.js';
import { postgresIds } from '../adapters/ids.js';
import { smtpMailer } from '../adapters/mail/smtp-mailer.js';
import { postgresNotificationQueue } from '../adapters/notification-queue.js';
import { postgresPendingIdempotencyKeys } from '../adapters/pending-idempotency-keys.js';
import { webauthnPasskeys } from '../adapters/sign-in/passkeys.js';
import { argon2Passwords } from '../adapters/sign-in/passwords.js';
import { postgresSessions } from '../adapters/sign-in/sessions.js';
import { postgresTickets } from '../adapters/sign-in/tickets.js';
import { totpCodes } from '../adapters/sign-in/totp.js';
import { turnstile } from '../adapters/sign-in/turnstile.js';
import { readMasterKey, verifyMasterKey } from '../adapters/vault/master-key.js';
import { personalDataPurposes, postgresPersonalData } from '../adapters/vault/personal-data.js';
import { hashingKey, postgresVault } from '../adapters/vault/vault.js';
import { type Application, openApplication } from '../application/application.js';
import { newEventId } from '../application/event-id.js';
import { handle } from '../application/handle.js';
import { accountSource } from '../application/memory/account-source.js';
import { openDirectory } from '../application/memory/directory.js';
import { directorySource, identitySource } from '../application/memory/directory-source.js';
import { liveTraffic } from '../application/memory/live-traffic.js';
import { openQuotaGate } from '../application/memory/quota-gate.js';
import { followTail } from '../application/memory/tail.js';
import { notifyOfGuessing } from '../application/notifications/notify-of-guessing.js';
import { defaultPrices } from '../application/options/default-prices.js';
import { optionSecrets } from '../application/options/option-secrets.js';
import { followPriceCalendar } from '../application/options/price-calendar.js';
import type { Clock, EventStore } from '../application/ports/storage-ports.js';
import { setupCode } from '../application/sign-in/setup-code.js';
import { trafficNotices } from '../application/usage/traffic-notices.js';
import type { Config } from '../config.js';
import { beginning, type Position } from '../domain/events/events.js';
import { Failure } from '../domain/kernel/failure.js';
import type { OptionKey } from '../domain/options/option-table.js';
import { origins } from '../http/origins.js';
import { proxyDoubts, warnOfProxies } from '../http/proxy-doubts.js';
import { openIdentityProviders } from '../identity-providers/identity-providers.js';
import { addressGuard, resolveBySystem } from '../outbound/address-guard.js';
import { openGuardedClient } from '../outbound/guarded-client.js';
import { packageRoot } from '../package-root.js';
import { openPayments } from '../payments/payments.js';
import { Closing } from '../process/closing.js';
import { dropOldVersions } from '../projections/engine/rebuild.js';
import type { ProjectionRunner } from '../projections/engine/runner.js';
import { watchBuilding } from '../projections/engine/watch-building.js';
import { rootUserId } from '../projections/models/user-queries.js';
import { openReadModels, readModels } from '../projections/read-models.js';
import { callLimits } from '../relay/admission/call-limits.js';
import { countWrongKeys } from '../relay/admission/wrong-keys.js';
import { inFlightCalls } from '../relay/metering/in-flight-calls.js';
import { openMeter } from '../relay/metering/metered.js';
import { recordRefusals } from '../relay/pipeline/record-refusals.js';
import { channelBalances } from '../relay/probes/channel-balance.js';
import { upstreamModels } from '../relay/probes/channel-models.js';
import { channelProbe } from '../relay/probes/channel-probe.js';
import { providerTable } from '../relay/providers/registry.js';
import { samplePlacesBy } from '../relay/text/sample-places.js';
import { directoryCapacity, openRelayRuntime } from '../relay-process/runtime.js';
import { listenBehind } from '../relay-process/workers/listen-behind.js';
import { RelayWorkers } from '../relay-process/workers/relay-workers.js';
import { startBackgroundJobs } from './background-jobs.js';
import { type EarlyStart, startEarly } from './early-start.js';
import { openEventLog } from './open-event-log.js';
import { addressOf, listenOn, openServer } from './server.js';
import { tellSetupCode } from './tell-setup-code.js';

/* The composition root: config → adapters → application → faces. */

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
  /** What has been started already, and ends with the gateway. Left out: nothing. */
  readonly begun?: EarlyStart;
}

/** Throws Failure `store-unavailable` when the database cannot be used; nothing is left running then. */
export async function startGateway(
  config: Config,
  log: Logger,
  { workerCount = 1, clock = systemClock, begun = startEarly(config, log) }: StartOptions = {},
): Promise<Gateway> {
  const closing = new Closing();
  try {
    return await start(config, log, { workerCount, clock, begun }, closing);
  } catch (error) {
    const where = await begun.opening.then(({ connection }) => whereIs(connection)).catch(() => 'DATABASE_URL');
    await closing.run(log);
    throw toldAtStart(where, error);
  }
}

async function start(
  config: Config,
  log: Logger,
  { workerCount, clock, begun: { ending, projections, opening } }: Required<StartOptions>,
  closing: Closing,
): Promise<Gateway> {
  const startedAt = systemClock.now();
  // With the port itself as soon as that is open.
  let url = addressOf(config.server.host, config.server.port);

  closing.add(async () => (await opening.catch(() => null))?.embedded?.stop());
  // Again below, where it has something to finish: before what it needs is closed.
  closing.add(() => projections.stop());
  const workers =
    workerCount === 1 ? null : new RelayWorkers({ count: workerCount, log, lost: (reason) => ending.begin(reason) });
  if (workers !== null) closing.add(() => workers.stop());
  const { connection, embedded } = await opening;
  const pool: pg.Pool = await openPool(connection, log, { limits: shortStatements });
  closing.add(() => pool.end());
  const pooled = embedded === null && (await checkDatabase(connection)).pooled;
  const onLost = (reason: string): void => {
    if (ending.reason() === null) log.fatal({ reason }, 'this node has lost its database to another one and ends');
    ending.begin(reason);
  };
  const claim = await claimOnlyNode({ connection, log, waitMs: config.database.takeoverWaitMs, onLost });
  closing.add(() => claim.release());
  // The pool and the claim have one each.
  if (pooled) await checkConnections(connection, 2);
  // Only by the node that serves: a second one that will not start must not change the tables under the first.
  const migrating = await openPool(connection, log, { size: 1 });
  await migrate(migrating).finally(() => migrating.end());
  const masterKey = await readMasterKey(config.vault);
  await verifyMasterKey(pool, masterKey);
  const samplingKey = masterKey.derive('sample places');
  samplePlacesBy(samplingKey);
  const vault = postgresVault({ pool, masterKey, clock });
  const personal = postgresPersonalData({ pool, masterKey, clock });
  const sessions = postgresSessions({ pool, masterKey, clock });

  const { store, began, isFencedOff } = await openEventLog({
    engine: postgresEventLog({ connection, pool, claim, log }),
    ...{ log, onLost, database: config.database, isOurs: embedded !== null },
  });
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
      ...{ progress: projections, feed: store, head: began },
      // Nobody else serves this database.
      dropOld: (kept) => dropOldVersions(() => newClient(connection, projecting), readModels, kept),
      unreadable(reason) {
        log.fatal({ reason }, 'this node cannot read all of the log; it ends');
        ending.begin(reason);
      },
      log,
    }),
  );
  // A third of the code is theirs: it is read while others work.
  const faces = import('./http-apps.js');
  await projections.caughtUp();

  const directory = await openDirectory({
    store,
    source: directorySource(db, (name) => positionOf(projections, name)),
    prices: defaultPrices(clock.now()),
    providers: providerTable,
    capacity: directoryCapacity,
  });
  closing.add(followPriceCalendar(directory, clock));
  const gate = openQuotaGate(accountSource(db, projections, store), {
    capacity: directoryCapacity,
    after: directory.position,
    clock,
  });
  const traffic = liveTraffic(clock);
  const ownTail = followTail(store, directory.position, [directory, gate, traffic]);
  const tail = workers === null ? ownTail : workers.following(ownTail);
  closing.add(() => tail.stop());
  tail.ended.catch((error: unknown) => {
    log.fatal({ err: error }, 'this node can no longer follow the log; it ends rather than serve stale balances');
    ending.begin(`The event log cannot be followed: ${error instanceof Error ? error.message : String(error)}`);
  });
  await tail.reached(await store.head(), 60_000);

  const outbound = openGuardedClient({ ...config.outbound, resolve: resolveBySystem });
  closing.add(() => outbound.close());
  const secretOf = optionSecrets(directory, vault);
  const mailer = smtpMailer(
    {
      settings: () => directory.settings().mail,
      password: () => secretOf('SMTPToken'),
      guard: addressGuard(config.outbound.allowedNetworks, resolveBySystem),
      log,
    },
    { timeoutMs: config.mailTimeoutMs },
  );
  const notificationQueue = postgresNotificationQueue(pool);
  const asSet = {
    text: (key: OptionKey) => directory.settings().text(key),
    isKept: (key: OptionKey) => directory.optionSecret(key) !== null,
    secretOf,
  };
  const report = (facts: object) => log.warn(facts, 'a provider has not vouched for somebody');
  const identityProviders = openIdentityProviders({ outbound, clock, ...asSet, report }, config.doors);
  const handling = handle(store, clock);
  const notices = trafficNotices(handling, log);
  const underWay = inFlightCalls();
  const warn = (facts: object, message: string) => log.warn(facts, message);
  const metering = { store, gate, clock, newEventId, warn: (said: string, facts: object) => warn(facts, said) };
  const meter = openMeter({ ...metering, underWay });
  const counting = { limits: callLimits(clock), wrongKeys: countWrongKeys(clock) };
  const refusalRecord = recordRefusals({ store, clock, newEventId, counted: traffic.refused, warn });
  closing.add(refusalRecord.keepWriting());
  const proxies = proxyDoubts(() => clock.now(), warnOfProxies(warn));
  const noticing = { apiKeyStatus: notices, channelHealth: notices, doubted: proxies.tell };
  const telling = { ...noticing, refusals: refusalRecord.own };
  const relaying = openRelayRuntime(config, { directory, gate, meter, vault, clock, log, ...counting, ...telling });
  const { relay, entrance, addressOf: clientOf, bodyRoom } = relaying;
  closing.add(() => relaying.close());
  const application = openApplication({
    ...{ store, clock, directory, gate, tail, traffic, proxies, version },
    handle: handling,
    ids: postgresIds(pool),
    unsettledOrders: postgresPendingIdempotencyKeys(pool),
    vault,
    personal,
    passwords: argon2Passwords,
    sessions,
    codes: totpCodes,
    passkeyChecks: webauthnPasskeys,
    db: openReadModels(lists),
    progress: projections,
    identitySource: identitySource(db, personal),
    tickets: postgresTickets({ pool, masterKey, clock }),
    humanVerifier: turnstile({
      url: config.doors.turnstileUrl,
      secret: () => secretOf('TurnstileSecretKey'),
      outbound,
    }),
    outbound,
    mailer,
    secretOf,
    notificationQueue,
    guessed: notifyOfGuessing({ queue: notificationQueue, personal, clock, limit: config.notificationLimit, log }),
    allowHttp: config.outbound.allowHttp,
    identityProviders,
    payments: openPayments({ outbound, ...asSet }, config.stripeUrl),
    probe: channelProbe({ ...relaying.ports, root: () => rootUserId(db) }),
    balances: channelBalances(relaying.ports),
    upstreamModels: upstreamModels(relaying.ports),
    setupCode: config.server.setupCodeRequired ? setupCode((code) => tellSetupCode(log, url, code)) : null,
    providers: providerTable,
    releasesUrl: config.releasesUrl,
    warn,
  });

  await application.setup.resume();
  const whereFrom = origins({
    trustedProxies: config.server.trustedProxies,
    publicAddress: () => directory.settings().text('ServerAddress'),
  });
  await startBackgroundJobs(
    {
      ...{ store, pool, db, clock, tail },
      handle: handling,
      progress: projections,
      vault,
      personal,
      freeClaims: application.users.freeClaims,
      inviteRewards: application.users.inviteRewards,
      payments: application.payments,
      channels: application.byTheClock,
      channelIntervals: config.channels,
      usageLog: application.usageLog,
      notes,
      underWay: workers ?? underWay,
      directory,
      gate,
      outbound,
      mailer,
      sessions,
      secretOf,
      queue: notificationQueue,
      limit: config.notificationLimit,
      whenLost: (look) => workers?.whenLost(look),
      log,
      began,
    },
    closing,
  );

  let stopping = false;
  const { app, routes, upgrades } = openServer(config.server, {
    entrance,
    addressOf: clientOf,
    log,
    isEnding: () => stopping || ending.reason() !== null,
  });
  closing.add(() => app.close());
  const { serveHttpApps } = await faces;
  await serveHttpApps(app, {
    application,
    relay,
    bodyRoom,
    ...{ addressOf: clientOf, upgrades },
    origins: whereFrom,
    config,
    startedAt,
    version,
    log,
    ping: () => pool.query('SELECT 1'),
  });
  const lost = ending.reason();
  if (lost !== null) throw new Failure('store-unavailable', { reason: lost });
  const port =
    workers === null
      ? await listenOn(app, config.server)
      : await listenBehind(workers, app, closing, {
          ports: {
            ...{ store, directory, gate, vault, refusalRecord, ...counting, ...telling },
            ...{ position: tail.position, head: () => store.head() },
            meterOf: (calls) => openMeter({ ...metering, underWay: calls }),
          },
          setting: {
            server: config.server,
            relay: config.relay,
            logLevel: config.log.level,
            hashingKey: hashingKey(masterKey).toString('base64'),
            samplingKey: samplingKey.toString('base64'),
          },
        });
  // Refused everywhere, not only here.
  void ending.begun.then(() => workers?.refuse());

  url = addressOf(config.server.host, port);
  return {
    url,
    routes,
    application,
    store,
    failed: ending.begun,
    async stop() {
      // New calls are refused while the ones under way finish.
      stopping = true;
      application.stop();
      app.server.close();
      const deadline = Date.now() + config.server.shutdownGraceMs;
      let serving = workers !== null;
      void workers?.finish().then(() => {
        serving = false;
      });
      const pending = () => meter.pending() + (workers?.pending() ?? 0);
      // Outcomes that the log will not take from this node are for its successor to write.
      const busy = () => serving || relay.active() > 0 || (pending() > 0 && !isFencedOff());
      while (busy() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
      await closing.run(log);
    },
  };
}

const positionOf = (projections: ProjectionRunner, name: string): Position =>
  projections.status().find((model) => model.name === name)?.position ?? beginning;
