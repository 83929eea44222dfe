import type { ProviderTable } from '../domain/channel/provider.js';
import type { UserId } from '../domain/kernel/ids.js';
import type { ReadModels } from '../projections/database.js';
import type { SeenProxies } from './doubted-proxies.js';
import type { Handle } from './handle.js';
import type { NodeDirectory } from './memory/directory.js';
import type { LiveTraffic } from './memory/live-traffic.js';
import type { Tail } from './memory/tail.js';
import type { OptionSecrets } from './options/option-secrets.js';
import type { DetachedLog } from './ports/archive-ports.js';
import type { IdentityProviders } from './ports/identity-provider-ports.js';
import type { HumanVerifier, Mailer, NotificationQueue, Outbound } from './ports/outbound-ports.js';
import type { PaymentProviders } from './ports/payment-ports.js';
import type { OneTimeCodes, PasskeyChecks } from './ports/proof-ports.js';
import type { SettledCalls } from './ports/settled-call-ports.js';
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
import type { StoredResponsesOfUser } from './ports/stored-response-ports.js';
import type { TaskStore } from './ports/task-ports.js';
import type { ChannelBalances, ChannelProbe, Engines, UpstreamModels } from './ports/upstream-ports.js';
import type { SealReading } from './seals/seal-queries.js';
import type { IdentitySource } from './sign-in/identity-ports.js';
import type { SetupCode } from './sign-in/setup-code.js';

/** Everything the application needs of others; each noun of it is handed what it needs, by name. */
export interface ApplicationPorts {
  readonly store: EventStore;
  readonly handle: Handle;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly unsettledOrders: PendingIdempotencyKeys;
  readonly vault: Vault;
  readonly personal: PersonalData;
  readonly taskStore: TaskStore;
  readonly sealing: SealReading;
  readonly archives: Pick<DetachedLog, 'all'>;
  readonly settledCalls: SettledCalls;
  readonly storedResponses: StoredResponsesOfUser;
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
  readonly engines: Engines;
  readonly tickets: Tickets;
  readonly humanVerifier: HumanVerifier;
  readonly outbound: Outbound;
  readonly mailer: Mailer;
  readonly secretOf: OptionSecrets;
  readonly notificationQueue: NotificationQueue;
  /** Called with a user at whose password, or codes, others guess. */
  readonly guessed: (user: UserId, what: 'password' | 'factor') => void;
  /** Addresses that users type may begin with http. */
  readonly allowHttp: boolean;
  readonly identityProviders: IdentityProviders;
  readonly paymentProviders: PaymentProviders;
  /** null: the first run takes no code. */
  readonly setupCode: SetupCode | null;
  readonly providers: ProviderTable;
  /** Of the release that runs. */
  readonly version: string;
  /** Trusted ones, as requests show them. */
  readonly proxies: SeenProxies;
  /** Where newer releases are announced; null: nowhere. */
  readonly releasesUrl: string | null;
  /** What its operator should know of. */
  readonly warn: (facts: object, message: string) => void;
}
