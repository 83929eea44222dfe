import type { Position } from '../domain/events.js';
import type { ProviderTable } from '../domain/provider.js';
import type { ReadModels } from '../projections/database.js';
import { countApiKeys } from '../projections/models/api-keys.js';
import { channels } from '../projections/models/channels.js';
import { usageLog } from '../projections/models/usage-log/usage-log.js';
import { usageLogAfter } from '../projections/models/usage-log/usage-log-queries.js';
import { users as usersModel } from '../projections/models/users.js';
import { apiKeyCommands } from './commands/api-keys.js';
import { channelCommands } from './commands/channels.js';
import type { Handle } from './commands/handle.js';
import { optionCommands } from './commands/options.js';
import { orderBook } from './commands/order-mark.js';
import { setupCommands } from './commands/setup.js';
import type { SetupCode } from './commands/setup-code.js';
import { userCommands } from './commands/users.js';
import type { NodeDirectory } from './memory/directory.js';
import type { LiveTraffic } from './memory/live-traffic.js';
import type { Tail } from './memory/tail.js';
import { UsageFeed } from './memory/usage-feed.js';
import type {
  ChannelProbe,
  Clock,
  EventStore,
  Ids,
  Passwords,
  PersonalData,
  QuotaGate,
  ReadModelProgress,
  Sessions,
  UnsettledOrders,
  Vault,
} from './ports.js';
import { apiKeyQueries } from './queries/api-keys.js';
import { channelQueries } from './queries/channels.js';
import { offerQueries } from './queries/offers.js';
import { trafficQueries } from './queries/traffic.js';
import { usageQueries } from './queries/usage.js';
import { userQueries } from './queries/users.js';
import { readModelCommands } from './read-models.js';
import { type IdentitySource, identity } from './sessions/identity.js';

/* What the system can do, whatever the wire: the faces get this and nothing else. */

export interface ApplicationPorts {
  readonly store: EventStore;
  readonly handle: Handle;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly unsettledOrders: UnsettledOrders;
  readonly vault: Vault;
  readonly personal: PersonalData;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly db: ReadModels;
  readonly progress: ReadModelProgress;
  readonly identitySource: IdentitySource;
  readonly directory: NodeDirectory;
  readonly gate: QuotaGate;
  readonly tail: Tail;
  readonly traffic: LiveTraffic;
  readonly probe: ChannelProbe;
  readonly setupCode: SetupCode;
  readonly providers: ProviderTable;
}

/** Longest a face waits to show its own write; then it answers with what there is. */
const visibilityTimeoutMs = 3000;
/** The same for a read that shows nobody's own write in particular. */
const freshnessTimeoutMs = 500;

/** What a line of the usage log is shown with. */
const usageLogAndNames = [usageLog.name, usersModel.name, channels.name];

export function openApplication(ports: ApplicationPorts) {
  const { clock, directory, gate, tail, progress } = ports;
  const once = orderBook({ ...ports, hash: (text) => ports.vault.hash(text) });
  const users = userCommands({ ...ports, once });
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
    channels: channelCommands(ports),
    options: optionCommands(ports),
    readModels: readModelCommands(ports),
    setup: setupCommands({ ...ports, users, code: ports.setupCode }),
    identity: identity({ ...ports, source: ports.identitySource }),
    queries: {
      ...userQueries(reading),
      ...apiKeyQueries(reading),
      ...channelQueries(reading),
      ...offerQueries(reading),
      ...trafficQueries(reading),
      ...usageQueries({ ...reading, usageFeed }),
    },
    directory,
    gate,
    tail,
    clock,
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
