import { apiKeyCommands } from '../../src/application/commands/api-keys.js';
import { channelCommands } from '../../src/application/commands/channels.js';
import { handle } from '../../src/application/commands/handle.js';
import { optionCommands } from '../../src/application/commands/options.js';
import { orderBook } from '../../src/application/commands/order-mark.js';
import { setupCommands } from '../../src/application/commands/setup.js';
import { setupCode } from '../../src/application/commands/setup-code.js';
import { userCommands } from '../../src/application/commands/users.js';
import type { DefaultPrices } from '../../src/application/default-prices.js';
import { openDirectory } from '../../src/application/memory/directory.js';
import { type AccountSource, openQuotaGate } from '../../src/application/memory/quota-gate.js';
import { followTail } from '../../src/application/memory/tail.js';
import type {
  ApiKeyCounts,
  AppendResult,
  ChannelProbe,
  ExpectedRevision,
  ProbeResult,
} from '../../src/application/ports.js';
import { type IdentitySource, identity } from '../../src/application/sessions/identity.js';
import {
  beginning,
  type DomainEvent,
  type NewEvent,
  type Position,
  type Recorded,
  type StreamName,
  streamKey,
  streams,
} from '../../src/domain/events.js';
import { type ApiKeyId, UserId } from '../../src/domain/ids.js';
import { Quota } from '../../src/domain/quota.js';
import type { Actor } from '../../src/domain/user.js';
import { someInstant } from './events.js';
import {
  CountingIds,
  DigestPasswords,
  MemoryPersonalData,
  MemorySessions,
  MemoryUnsettledOrders,
  MemoryVault,
} from './fake-ports.js';
import { settableClock } from './fixed-clock.js';
import { foldAccount } from './gate-world.js';
import { MemoryEventStore } from './memory-event-store.js';
import { testProviders } from './providers.js';

/** A log whose readers can be kept waiting, and whose appends can be made to fail. */
export class TestStore extends MemoryEventStore {
  /** Called before every append; what it throws, the append throws. */
  beforeAppend: (stream: StreamName, events: readonly NewEvent[]) => Promise<void> = async () => {};
  private held: { until: Promise<void>; letGo: () => void } | null = null;

  /** From now on subscribers get nothing new. */
  hold(): void {
    let letGo = (): void => {};
    const until = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    this.held = { until, letGo };
  }

  letGo(): void {
    this.held?.letGo();
    this.held = null;
  }

  override async append(
    stream: StreamName,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
  ): Promise<AppendResult> {
    await this.beforeAppend(stream, events);
    return super.append(stream, events, expected);
  }

  override async *subscribe(after: Position, signal: AbortSignal): AsyncIterable<readonly Recorded[]> {
    for await (const batch of super.subscribe(after, signal)) {
      await this.held?.until;
      yield batch;
    }
  }

  async everything(): Promise<readonly Recorded[]> {
    return this.readAll(beginning, Number.POSITIVE_INFINITY);
  }
}

/** Read models that are always up to date: the log, folded when somebody asks. */
const accountSource = (store: TestStore): AccountSource => {
  const snapshot = async (owner: { user: UserId } | { apiKey: ApiKeyId }) => {
    const { balance, holds } = foldAccount(await store.everything(), owner);
    return {
      balance: BigInt(balance),
      holds: [...holds].map(([callId, quota]) => ({ callId, quota: Quota(quota) })),
      position: await store.head(),
    };
  };
  return {
    user: (user) => snapshot({ user }),
    apiKey: (apiKey) => snapshot({ apiKey }),
    caughtUp: async () => {},
    between: async (after, to) =>
      (await store.everything()).filter(({ position }) => position > after && position <= to),
  };
};

const apiKeyCounts = (store: TestStore): ApiKeyCounts => ({
  async of(owner, ids) {
    const live = new Set<StreamName>();
    const issued = new Set<StreamName>();
    for (const { stream, event } of await store.everything()) {
      if (event.type === 'ApiKeyIssued' && event.owner === owner) live.add(stream) && issued.add(stream);
      if (event.type === 'ApiKeyDeleted') live.delete(stream);
    }
    return { live: live.size, known: ids.filter((id) => issued.has(streams.apiKey(id))) };
  },
});

const identitySource = (store: TestStore): IdentitySource => ({
  async byLogin(login) {
    let found: UserId | null = null;
    for (const { stream, event } of await store.everything()) {
      if (event.type === 'UserRegistered' && event.username === login) found = UserId(streamKey(stream));
      if (event.type === 'UserDeleted' && found !== null && stream === streams.user(found)) found = null;
    }
    return found;
  },
  async byAccessTokenHash(tokenHash) {
    const found = (await store.everything()).find(
      ({ event }) => event.type === 'AccessTokenIssued' && event.tokenHash === tokenHash,
    );
    return found === undefined ? null : UserId(streamKey(found.stream));
  },
});

export const passingProbe: ProbeResult = { ok: true, message: '', responseTimeMs: 840, usage: null };

class FakeProbe implements ChannelProbe {
  result: ProbeResult = passingProbe;
  readonly asked: (readonly [channel: number, model: string])[] = [];

  async test({ id }: { id: number }, model: string): Promise<ProbeResult> {
    this.asked.push([id, model]);
    return this.result;
  }
}

const noPrices: DefaultPrices = {
  modelRatio: new Map(),
  modelPrice: new Map(),
  completionRatio: new Map(),
  cacheRatio: new Map(),
  cacheWriteRatio: new Map(),
  imageRatio: new Map(),
  imageOutputRatio: new Map(),
  audioRatio: new Map(),
  audioOutputRatio: new Map(),
};

export type MemoryNode = Awaited<ReturnType<typeof openMemoryNode>>;

/** All commands of one node over a log in memory. With a store given, the node shares that log with others. */
export async function openMemoryNode(
  store = new TestStore(),
  ids = new CountingIds(),
  vault = new MemoryVault(),
  unsettledOrders = new MemoryUnsettledOrders(),
) {
  const clock = settableClock(someInstant);
  const directory = await openDirectory({
    store,
    source: {
      snapshot: async () => ({ channels: [], options: new Map(), position: beginning }),
      apiKeyIdByHash: async () => null,
    },
    prices: noPrices,
    providers: testProviders,
    capacity: 1_000,
  });
  const gate = openQuotaGate(accountSource(store), { capacity: 1_000, after: beginning });
  const tail = followTail(store, beginning, [directory, gate]);
  await tail.reached(await store.head(), 1_000);
  const ports = {
    ...{ store, clock, ids, vault, directory, gate, tail },
    handle: handle(store, clock),
    once: orderBook({ hash: (text) => vault.hash(text), clock, unsettledOrders }),
    personal: new MemoryPersonalData(),
    passwords: new DigestPasswords(),
    sessions: new MemorySessions(),
    apiKeyCounts: apiKeyCounts(store),
    progress: { reached: async () => true },
    probe: new FakeProbe(),
    setupCodes: [] as string[],
    providers: testProviders,
  };
  const users = userCommands(ports);
  return {
    ...ports,
    users,
    apiKeys: apiKeyCommands(ports),
    channels: channelCommands(ports),
    options: optionCommands(ports),
    setup: setupCommands({ ...ports, users, code: setupCode((code) => ports.setupCodes.push(code)) }),
    identity: identity({ ...ports, source: identitySource(store) }),

    /** This node's memory has come as far as the log. */
    async caughtUp(): Promise<void> {
      if (!(await tail.reached(await store.head(), 5_000))) throw new Error('the tail does not follow');
    },
    async eventsOf(stream: StreamName): Promise<readonly DomainEvent[]> {
      return (await store.readStream(stream)).map(({ event }) => event);
    },
  };
}

export const root: Actor = { id: UserId(1_000), role: 'root' };
export const admin: Actor = { id: UserId(1_001), role: 'admin' };
export const ordinary: Actor = { id: UserId(1_002), role: 'ordinary' };
