import { apiKeyCommands } from '../../src/application/api-keys.js';
import { channelCommands } from '../../src/application/channels.js';
import { type NodeDirectory, openDirectory } from '../../src/application/directory.js';
import { type Handle, handle } from '../../src/application/handle.js';
import { type IdentitySource, identity } from '../../src/application/identity.js';
import { optionCommands } from '../../src/application/options.js';
import type {
  AppendResult,
  ChannelProbe,
  ExpectedRevision,
  ProbeResult,
  QuotaGate,
} from '../../src/application/ports.js';
import { type AccountSource, openQuotaGate } from '../../src/application/quota-gate.js';
import { setupCommands } from '../../src/application/setup.js';
import { followTail, type Tail } from '../../src/application/tail.js';
import { userCommands } from '../../src/application/users.js';
import {
  beginning,
  type DomainEvent,
  type EventType,
  type NewEvent,
  type Position,
  type Recorded,
  type StreamName,
  streamKey,
  streams,
} from '../../src/domain/events.js';
import { type ApiKeyId, type SecretId, UserId } from '../../src/domain/ids.js';
import { Quota } from '../../src/domain/quota.js';
import type { Actor, Role } from '../../src/domain/user.js';
import { someInstant } from './events.js';
import { CountingIds, DigestPasswords, MemoryPersonalData, MemorySessions, MemoryVault } from './fake-ports.js';
import { settableClock } from './fixed-clock.js';
import { foldAccount } from './gate-world.js';
import { MemoryEventStore } from './memory-event-store.js';

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
      balance: Quota(balance),
      holds: [...holds].map(([callId, quota]) => ({ callId, quota: Quota(quota) })),
      position: await store.head(),
    };
  };
  return {
    user: (user) => snapshot({ user }),
    apiKey: (apiKey) => snapshot({ apiKey }),
    caughtUp: async () => {},
    between: async (after, to) => (await store.everything()).filter(({ position }) => position > after && position <= to),
  };
};

const identitySource = (store: TestStore): IdentitySource => ({
  async byLogin(login) {
    let found: { id: UserId; passwordSecret: SecretId | null } | null = null;
    for (const { stream, event } of await store.everything()) {
      if (event.type === 'UserRegistered' && event.username === login)
        found = { id: UserId(streamKey(stream)), passwordSecret: event.passwordSecret };
      if (found === null || stream !== streams.user(found.id)) continue;
      if (event.type === 'PasswordChanged') found = { ...found, passwordSecret: event.passwordSecret };
      if (event.type === 'UserDeleted') found = null;
    }
    return found;
  },
  async byAccessTokenHash(tokenHash) {
    const issued = (await store.everything()).filter(({ event }) => event.type === 'AccessTokenIssued');
    const latest = issued.filter((one) => one === issued.findLast(({ stream }) => stream === one.stream));
    const found = latest.find(({ event }) => event.type === 'AccessTokenIssued' && event.tokenHash === tokenHash);
    return found === undefined ? null : UserId(streamKey(found.stream));
  },
});

export const passingProbe: ProbeResult = { ok: true, message: '', responseTimeMs: 840, usage: null };

export class FakeProbe implements ChannelProbe {
  result: ProbeResult = passingProbe;
  readonly asked: (readonly [channel: number, model: string])[] = [];

  async test({ id }: { id: number }, model: string): Promise<ProbeResult> {
    this.asked.push([id, model]);
    return this.result;
  }
}

/** All commands of one node over an in-memory log, with nothing else real but what they are made of. */
export class MemoryNode {
  readonly store = new TestStore();
  readonly clock = settableClock(someInstant);
  readonly ids = new CountingIds();
  readonly vault = new MemoryVault();
  readonly personal = new MemoryPersonalData();
  readonly passwords = new DigestPasswords();
  readonly sessions = new MemorySessions();
  readonly probe = new FakeProbe();
  readonly handle: Handle = handle(this.store, this.clock);
  readonly gate: QuotaGate;
  readonly users;
  readonly apiKeys;
  readonly channels;
  readonly options;
  readonly setup;
  readonly identity;

  private constructor(
    readonly directory: NodeDirectory,
    open: (store: TestStore) => { readonly tail: Tail; readonly gate: QuotaGate },
    store: TestStore,
  ) {
    this.store = store;
    this.handle = handle(store, this.clock);
    const { tail, gate } = open(store);
    this.tail = tail;
    this.gate = gate;
    this.users = userCommands(this);
    this.apiKeys = apiKeyCommands(this);
    this.channels = channelCommands(this);
    this.options = optionCommands(this);
    this.setup = setupCommands(this);
    this.identity = identity({ ...this, source: identitySource(store) });
  }

  readonly tail: Tail;

  static async open(): Promise<MemoryNode> {
    const store = new TestStore();
    throw new Error(String(store));
  }
}

export type { DomainEvent, EventType, Actor, Role };
