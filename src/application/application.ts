import type { Position } from '../domain/events.js';
import type { UserId } from '../domain/ids.js';
import type { ProviderTable } from '../domain/provider.js';
import type { ReadModels } from '../projections/database.js';
import { countApiKeys } from '../projections/models/api-keys.js';
import { channels } from '../projections/models/channels.js';
import { countOpenPayments } from '../projections/models/payment-queries.js';
import { redemptionIdByHash } from '../projections/models/redemptions.js';
import { usageLog } from '../projections/models/usage-log/usage-log.js';
import { usageLogAfter } from '../projections/models/usage-log/usage-log-queries.js';
import { users as usersModel } from '../projections/models/users.js';
import { apiKeyCommands } from './commands/api-keys.js';
import { channelBalanceCommands } from './commands/channel-balances.js';
import { channelFileCommands } from './commands/channel-files.js';
import { channelTests } from './commands/channel-tests.js';
import { channelCommands } from './commands/channels.js';
import { emailCodes } from './commands/email-codes.js';
import { factorCommands } from './commands/factors.js';
import type { Handle } from './commands/handle.js';
import { mailLimits } from './commands/mail-limits.js';
import { optionCommands } from './commands/options.js';
import { orderBook } from './commands/order-mark.js';
import { ownEmail } from './commands/own-email.js';
import { passkeysOf } from './commands/passkeys-of.js';
import { passwordReset } from './commands/password-reset.js';
import { paymentCommands } from './commands/payments.js';
import { redemptionCommands } from './commands/redemptions.js';
import { registering } from './commands/registering.js';
import { setupCommands } from './commands/setup.js';
import type { SetupCode } from './commands/setup-code.js';
import { upstreamModelCommands } from './commands/upstream-models.js';
import { usageLogCommands } from './commands/usage-log.js';
import { userSettingsCommands } from './commands/user-settings.js';
import { userCommands } from './commands/users.js';
import { welcome } from './commands/welcome.js';
import type { DoorsElsewhere } from './doors-elsewhere.js';
import { doubtedProxies, type SeenProxies } from './doubted-proxies.js';
import { latestRelease } from './latest-release.js';
import type { NodeDirectory } from './memory/directory.js';
import { factorMemory } from './memory/factors.js';
import type { LiveTraffic } from './memory/live-traffic.js';
import type { Tail } from './memory/tail.js';
import { UsageFeed } from './memory/usage-feed.js';
import { oidcEndpoints } from './oidc-endpoints.js';
import type { OptionSecrets } from './option-secrets.js';
import type { HumanVerifier, Mailer, NotificationQueue, Outbound } from './outgoing.js';
import type { PaymentProviders } from './payment-ports.js';
import type {
  Clock,
  EventStore,
  Ids,
  Passwords,
  PersonalData,
  QuotaGate,
  ReadModelProgress,
  Sessions,
  Tickets,
  UnsettledOrders,
  Vault,
} from './ports.js';
import type { OneTimeCodes, PasskeyChecks } from './proof-ports.js';
import { apiKeyQueries } from './queries/api-keys.js';
import { callQueries } from './queries/calls.js';
import { channelQueries } from './queries/channels.js';
import { doorQueries } from './queries/doors.js';
import { logExportQueries } from './queries/log-export.js';
import { notificationQueries } from './queries/notifications.js';
import { offerQueries } from './queries/offers.js';
import { optionQueries } from './queries/options.js';
import { paymentQueries } from './queries/payments.js';
import { redemptionQueries } from './queries/redemptions.js';
import { securityQueries } from './queries/security.js';
import { statementQueries } from './queries/statements.js';
import { trafficQueries } from './queries/traffic.js';
import { usageQueries } from './queries/usage.js';
import { userQueries } from './queries/users.js';
import { readModelCommands } from './read-models.js';
import { doorsElsewhere } from './sessions/elsewhere.js';
import { humanChecks } from './sessions/human-checks.js';
import { type IdentitySource, identity } from './sessions/identity.js';
import { ownSessions } from './sessions/own-sessions.js';
import { passkeyCeremonies } from './sessions/passkeys.js';
import { passwordChecks } from './sessions/password-checks.js';
import { secondFactor } from './sessions/second-factor.js';
import { stepUps } from './sessions/step-up.js';
import type { ChannelBalances, ChannelProbe, UpstreamModels } from './upstream-ports.js';

/* What the system can do, whatever the wire: the faces get this and nothing else. */

interface ApplicationPorts {
  readonly store: EventStore;
  readonly handle: Handle;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly unsettledOrders: UnsettledOrders;
  readonly vault: Vault;
  readonly personal: PersonalData;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly codes: OneTimeCodes;
  readonly passkeyChecks: PasskeyChecks;
  readonly db: ReadModels;
  readonly progress: ReadModelProgress;
  readonly identitySource: IdentitySource;
  readonly directory: NodeDirectory;
  readonly gate: QuotaGate;
  readonly tail: Tail;
  readonly traffic: LiveTraffic;
  readonly probe: ChannelProbe;
  readonly balances: ChannelBalances;
  readonly upstreamModels: UpstreamModels;
  readonly tickets: Tickets;
  readonly humanVerifier: HumanVerifier;
  readonly outbound: Outbound;
  readonly mailer: Mailer;
  readonly secretOf: OptionSecrets;
  readonly notificationQueue: NotificationQueue;
  /** Told of a user at whose password, or codes, strangers guess. */
  readonly guessed: (user: UserId, what: 'password' | 'factor') => void;
  /** Addresses that users type may begin with http. */
  readonly allowHttp: boolean;
  readonly doors: DoorsElsewhere;
  readonly payments: PaymentProviders;
  /** null: the first run takes no code. */
  readonly setupCode: SetupCode | null;
  readonly providers: ProviderTable;
  /** Of the release that runs. */
  readonly version: string;
  /** Trusted ones, as requests show them. */
  readonly proxies: SeenProxies;
  /** Where newer ones are told of; null: nowhere. */
  readonly releasesUrl: string | null;
  /** What its operator should know of. */
  readonly warn: (facts: object, message: string) => void;
}

/** Longest a face waits to show its own write; then it answers with what there is. */
const visibilityTimeoutMs = 3000;
/** The same for a read that shows nobody's own write in particular. */
const freshnessTimeoutMs = 500;

/** Users whose factors are kept in memory. */
const factorCapacity = 10_000;

/** What a line of the usage log is shown with. */
const usageLogAndNames = [usageLog.name, usersModel.name, channels.name];

export function openApplication(ports: ApplicationPorts) {
  const { clock, directory, gate, tail, progress } = ports;
  const once = orderBook({ ...ports, hash: (text) => ports.vault.hash(text) });
  const factors = factorMemory(ports.store, factorCapacity);
  tail.add(factors);
  const passkeys = passkeyCeremonies({ ...ports, factors, checks: ports.passkeyChecks });
  const proving = secondFactor({
    ...ports,
    factors,
    ceremonies: passkeys,
    guessed: (user) => ports.guessed(user, 'factor'),
  });
  const limits = mailLimits(clock);
  const hash = (text: string): string => ports.vault.hash(text);
  const checking = passwordChecks({ ...ports, guessed: (user) => ports.guessed(user, 'password') });
  const proven = stepUps({ ...ports, factors, secondFactor: proving, passwordChecks: checking, limits, hash });
  const identified = identity({
    ...ports,
    source: ports.identitySource,
    factors,
    passkeys,
    secondFactor: proving,
    passwordChecks: checking,
  });
  const users = { ...userCommands({ ...ports, once, stepUps: proven }), ...userSettingsCommands(ports) };
  const doors = doorQueries(ports);
  const mailing = {
    ...ports,
    users,
    bindings: users.bindings,
    limits,
    hash,
  };
  const codes = emailCodes(mailing);
  const { stopTesting, testAllByTheClock, ...tests } = channelTests(ports);
  const { stopAskingBalances, updateBalancesByTheClock, ...balances } = channelBalanceCommands(ports);
  const usageFeed = new UsageFeed({
    tail,
    read: (filter, range) => usageLogAfter(ports.db, filter, range),
    holds: (position) => progress.reached(position, visibilityTimeoutMs, usageLogAndNames),
    isBuilding: () => progress.status().some(({ name, status }) => name === usageLog.name && status === 'building'),
  });
  const reading = { ...ports, fresh: () => progress.reached(tail.position(), freshnessTimeoutMs) };
  return {
    users,
    apiKeys: apiKeyCommands({
      ...ports,
      once,
      apiKeyCounts: { of: (owner, ids) => countApiKeys(ports.db, owner, ids) },
    }),
    channels: {
      ...channelCommands(ports),
      ...tests,
      ...balances,
      ...upstreamModelCommands(ports),
      ...channelFileCommands(ports),
    },
    redemptions: redemptionCommands({
      ...ports,
      once,
      redemptionByHash: (codeHash) => redemptionIdByHash(ports.db, codeHash),
    }),
    options: { ...optionCommands(ports), oidcEndpoints: oidcEndpoints(ports) },
    releases: latestRelease(ports),
    doubtedProxies: doubtedProxies(ports),
    readModels: readModelCommands(ports),
    usageLog: usageLogCommands(ports),
    payments: paymentCommands({
      ...ports,
      once,
      providers: ports.payments,
      stepUps: proven,
      openCounts: { of: (user, ids) => countOpenPayments(ports.db, user, ids) },
    }),
    setup: setupCommands({ ...ports, users, code: ports.setupCode }),
    registering: registering({ directory, users, codes }),
    emailCodes: codes,
    ownEmail: ownEmail({ codes, bindings: users.bindings, stepUps: proven }),
    passwordReset: passwordReset(mailing),
    humanChecks: humanChecks({
      ...ports,
      verifier: ports.humanVerifier,
      isOn: () => doors.doors().humanCheck !== null,
    }),
    identity: identified,
    stepUps: proven,
    factors: factorCommands({
      ...ports,
      passkeysOf: passkeysOf(ports.store),
      factors,
      passkeys,
      secondFactor: proving,
      stepUps: proven,
    }),
    ownSessions: ownSessions({ ...ports, factors, ended: identified.ended }),
    elsewhere: doorsElsewhere({
      ...ports,
      users,
      identity: identified,
      stepUps: proven,
      welcome: (inviter) => welcome(directory.settings(), inviter),
      isOpen: (provider) => doors.doors()[provider] !== null,
    }),
    queries: {
      ...userQueries(reading),
      ...apiKeyQueries(reading),
      ...channelQueries(reading),
      ...redemptionQueries(reading),
      ...offerQueries(reading),
      ...optionQueries(reading),
      ...notificationQueries(ports),
      ...paymentQueries({ ...reading, providers: ports.payments }),
      ...doors,
      ...trafficQueries(reading),
      ...securityQueries({ ...reading, factors }),
      ...usageQueries({ ...reading, usageFeed }),
      ...callQueries(ports),
      ...statementQueries(ports),
      ...logExportQueries(ports),
    },
    directory,
    gate,
    tail,
    clock,
    /** In nobody's name. */
    byTheClock: { testAll: testAllByTheClock, updateBalances: updateBalancesByTheClock },
    /** What goes on in the background ends; nothing of it is begun any more. */
    stop(): void {
      stopTesting();
      stopAskingBalances();
    },
    /**
     * Waits, bounded, until both the read models and this node's memory contain the event at `position`; tells whether
     * they do.
     */
    async visible(position: Position): Promise<boolean> {
      const reached = [progress.reached(position, visibilityTimeoutMs), tail.reached(position, visibilityTimeoutMs)];
      return (await Promise.all(reached)).every((there) => there);
    },
  };
}

export type Application = ReturnType<typeof openApplication>;
