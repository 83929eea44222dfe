import type { ProviderTable } from '../domain/channel/provider.js';
import type { Position } from '../domain/events/events.js';
import type { UserId } from '../domain/kernel/ids.js';
import type { ReadModels } from '../projections/database.js';
import { countApiKeys } from '../projections/models/api-keys.js';
import { channels } from '../projections/models/channels.js';
import { countOpenPayments } from '../projections/models/payment-queries.js';
import { redemptionIdByHash } from '../projections/models/redemptions.js';
import { usageLog } from '../projections/models/usage-log/usage-log.js';
import { usageLogAfter } from '../projections/models/usage-log/usage-log-queries.js';
import { users as usersModel } from '../projections/models/users.js';
import { apiKeyCommands } from './api-keys/api-key-commands.js';
import { apiKeyQueries } from './api-keys/api-key-queries.js';
import { channelBalanceCommands } from './channels/channel-balances.js';
import { channelCommands } from './channels/channel-commands.js';
import { channelFileCommands } from './channels/channel-files.js';
import { channelQueries } from './channels/channel-queries.js';
import { channelTests } from './channels/channel-tests.js';
import { upstreamModelCommands } from './channels/upstream-models.js';
import { doubtedProxies, type SeenProxies } from './doubted-proxies.js';
import type { Handle } from './handle.js';
import { idempotencyStore } from './idempotency.js';
import { latestRelease } from './latest-release.js';
import type { NodeDirectory } from './memory/directory.js';
import { factorMemory } from './memory/factors.js';
import type { LiveTraffic } from './memory/live-traffic.js';
import type { Tail } from './memory/tail.js';
import { UsageFeed } from './memory/usage-feed.js';
import { notificationQueries } from './notifications/notification-queries.js';
import { optionCommands } from './options/option-commands.js';
import { optionQueries } from './options/option-queries.js';
import type { OptionSecrets } from './options/option-secrets.js';
import { offerQueries } from './payments/offers.js';
import { paymentCommands } from './payments/payment-commands.js';
import { paymentQueries } from './payments/payment-queries.js';
import type { IdentityProviders } from './ports/identity-provider-ports.js';
import type { HumanVerifier, Mailer, NotificationQueue, Outbound } from './ports/outbound-ports.js';
import type { PaymentProviders } from './ports/payment-ports.js';
import type { OneTimeCodes, PasskeyChecks } from './ports/proof-ports.js';
import type {
  Clock,
  EventStore,
  Ids,
  Passwords,
  PendingIdempotencyKeys,
  PersonalData,
  QuotaGate,
  ReadModelProgress,
  Sessions,
  Tickets,
  Vault,
} from './ports/storage-ports.js';
import type { ChannelBalances, ChannelProbe, UpstreamModels } from './ports/upstream-ports.js';
import { readModelCommands } from './read-models.js';
import { redemptionCommands } from './redemptions/redemption-commands.js';
import { redemptionQueries } from './redemptions/redemption-queries.js';
import { externalSignIn } from './sign-in/external-sign-in.js';
import { factorCommands } from './sign-in/factors.js';
import { humanChecks } from './sign-in/human-checks.js';
import { identity } from './sign-in/identity.js';
import type { IdentitySource } from './sign-in/identity-ports.js';
import { oidcEndpoints } from './sign-in/oidc-endpoints.js';
import { ownSessions } from './sign-in/own-sessions.js';
import { passkeyCeremonies } from './sign-in/passkeys.js';
import { passkeysOf } from './sign-in/passkeys-of.js';
import { passwordChecks } from './sign-in/password-checks.js';
import { passwordReset } from './sign-in/password-reset.js';
import { secondFactor } from './sign-in/second-factor.js';
import { securityQueries } from './sign-in/security.js';
import { setupCommands } from './sign-in/setup.js';
import type { SetupCode } from './sign-in/setup-code.js';
import { signInMethodQueries } from './sign-in/sign-in-methods.js';
import { stepUps } from './sign-in/step-up.js';
import { callQueries } from './usage/calls.js';
import { logExportQueries } from './usage/log-export.js';
import { statementQueries } from './usage/statements.js';
import { trafficQueries } from './usage/traffic.js';
import { usageLogCommands } from './usage/usage-log-commands.js';
import { usageQueries } from './usage/usage-queries.js';
import { emailCodes } from './users/email-codes.js';
import { mailLimits } from './users/mail-limits.js';
import { ownEmail } from './users/own-email.js';
import { registering } from './users/registering.js';
import { userCommands } from './users/user-commands.js';
import { userQueries } from './users/user-queries.js';
import { userSettingsCommands } from './users/user-settings.js';
import { welcome } from './users/welcome.js';

/* What the system can do, whatever the wire: the faces get this and nothing else. */

interface ApplicationPorts {
  readonly store: EventStore;
  readonly handle: Handle;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly unsettledOrders: PendingIdempotencyKeys;
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
  readonly identityProviders: IdentityProviders;
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
  const once = idempotencyStore({ ...ports, hash: (text) => ports.vault.hash(text) });
  const factors = factorMemory(ports.store, factorCapacity);
  tail.add(factors);
  const passkeys = passkeyCeremonies({ ...ports, factors, checks: ports.passkeyChecks });
  const secondFactors = secondFactor({
    ...ports,
    factors,
    ceremonies: passkeys,
    guessed: (user) => ports.guessed(user, 'factor'),
  });
  const limits = mailLimits(clock);
  const hash = (text: string): string => ports.vault.hash(text);
  const passwordComparison = passwordChecks({ ...ports, guessed: (user) => ports.guessed(user, 'password') });
  const proven = stepUps({
    ...ports,
    factors,
    secondFactor: secondFactors,
    passwordChecks: passwordComparison,
    limits,
    hash,
  });
  const identified = identity({
    ...ports,
    source: ports.identitySource,
    factors,
    passkeys,
    secondFactor: secondFactors,
    passwordChecks: passwordComparison,
  });
  const users = { ...userCommands({ ...ports, once, stepUps: proven }), ...userSettingsCommands(ports) };
  const signInMethods = signInMethodQueries(ports);
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
      isOn: () => signInMethods.signInMethods().humanCheck !== null,
    }),
    identity: identified,
    stepUps: proven,
    factors: factorCommands({
      ...ports,
      passkeysOf: passkeysOf(ports.store),
      factors,
      passkeys,
      secondFactor: secondFactors,
      stepUps: proven,
    }),
    ownSessions: ownSessions({ ...ports, factors, ended: identified.ended }),
    externalSignIn: externalSignIn({
      ...ports,
      users,
      identity: identified,
      stepUps: proven,
      welcome: (inviter) => welcome(directory.settings(), inviter),
      isOpen: (provider) => signInMethods.signInMethods()[provider] !== null,
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
      ...signInMethods,
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
