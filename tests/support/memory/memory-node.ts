import { webauthnPasskeys } from '../../../src/adapters/sign-in/passkeys.js';
import { totpCodes } from '../../../src/adapters/sign-in/totp.js';
import { apiKeyCommands } from '../../../src/application/api-keys/api-key-commands.js';
import { channelBalanceCommands } from '../../../src/application/channels/channel-balances.js';
import { channelCommands } from '../../../src/application/channels/channel-commands.js';
import { channelFileCommands } from '../../../src/application/channels/channel-files.js';
import { channelTests } from '../../../src/application/channels/channel-tests.js';
import { upstreamModelCommands } from '../../../src/application/channels/upstream-models.js';
import { handle } from '../../../src/application/handle.js';
import { idempotencyStore } from '../../../src/application/idempotency.js';
import { openDirectory } from '../../../src/application/memory/directory.js';
import { factorMemory } from '../../../src/application/memory/factors.js';
import type { AccountSource } from '../../../src/application/memory/quota-account-cache.js';
import { openQuotaGate } from '../../../src/application/memory/quota-gate.js';
import { followTail } from '../../../src/application/memory/tail.js';
import { optionCommands } from '../../../src/application/options/option-commands.js';
import type { ApiKeyCounts, AppendResult, ExpectedRevision } from '../../../src/application/ports/storage-ports.js';
import type {
  ChannelBalances,
  ChannelProbe,
  Engines,
  FoundEngine,
  ProbeResult,
  UpstreamConnection,
  UpstreamModel,
  UpstreamModels,
} from '../../../src/application/ports/upstream-ports.js';
import { priceCommands } from '../../../src/application/prices/price-commands.js';
import { redemptionCommands } from '../../../src/application/redemptions/redemption-commands.js';
import { noStepUp, type SessionProof, type StepUpPurpose } from '../../../src/application/session-proof.js';
import { factorCommands } from '../../../src/application/sign-in/factors.js';
import { identity } from '../../../src/application/sign-in/identity.js';
import type { IdentitySource } from '../../../src/application/sign-in/identity-ports.js';
import { ownSessions } from '../../../src/application/sign-in/own-sessions.js';
import { passkeyCeremonies } from '../../../src/application/sign-in/passkeys.js';
import { passkeysOf } from '../../../src/application/sign-in/passkeys-of.js';
import { passwordChecks } from '../../../src/application/sign-in/password-checks.js';
import { secondFactor } from '../../../src/application/sign-in/second-factor.js';
import { setupCommands } from '../../../src/application/sign-in/setup.js';
import { setupCode } from '../../../src/application/sign-in/setup-code.js';
import { stepUps } from '../../../src/application/sign-in/step-up.js';
import { mailLimits } from '../../../src/application/users/mail-limits.js';
import { userCommands } from '../../../src/application/users/user-commands.js';
import { userSettingsCommands } from '../../../src/application/users/user-settings.js';
import {
  beginning,
  type DomainEvent,
  type NewEvent,
  type Position,
  type Recorded,
  type StreamName,
  streamKey,
  streams,
} from '../../../src/domain/events/events.js';
import { Failure } from '../../../src/domain/kernel/failure.js';
import { RedemptionId, UserId } from '../../../src/domain/kernel/ids.js';
import type { Actor } from '../../../src/domain/user/user.js';
import { someInstant } from '../given/events.js';
import { settableClock } from '../given/fixed-clock.js';
import { noPrices } from '../given/no-prices.js';
import { testProviders } from '../given/providers.js';
import {
  CountingIds,
  DigestPasswords,
  MemoryPendingIdempotencyKeys,
  MemoryPersonalData,
  MemorySessions,
  MemoryVault,
  RecordingOutbound,
} from './fake-ports.js';
import { type Owner, snapshotOf } from './gate-world.js';
import { MemoryEventStore } from './memory-event-store.js';
import { MemoryMailer } from './memory-mailer.js';
import { MemoryTickets } from './memory-tickets.js';

/** A log whose readers can be kept waiting, and whose appends can be made to fail. */
export class TestStore extends MemoryEventStore {
  /** Called before every append; what it throws, the append throws. */
  beforeAppend: (stream: StreamName, events: readonly NewEvent[]) => Promise<void> = async () => {};
  /** Every step on a stream waits for its turn, so that a test can say in which order they come. */
  turn: () => Promise<unknown> = async () => {};
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
    await this.turn();
    await this.beforeAppend(stream, events);
    return super.append(stream, events, expected);
  }

  override async readStream(stream: StreamName): Promise<readonly Recorded[]> {
    await this.turn();
    return super.readStream(stream);
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
  const snapshot = async (owner: Owner) => snapshotOf(await store.everything(), owner, await store.head());
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

const redemptionByHash = (store: TestStore) => async (codeHash: string) => {
  const found = (await store.everything()).find(
    ({ event }) => event.type === 'RedemptionCodeIssued' && event.codeHash === codeHash,
  );
  return found === undefined ? null : RedemptionId(streamKey(found.stream));
};

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

export const passingProbe: ProbeResult = { ok: true, message: '', responseTimeMs: 840, usage: null, outOfOrder: null };

class FakeProbe implements ChannelProbe {
  result: ProbeResult = passingProbe;
  /** Where channels answer differently, or throw. */
  readonly results = new Map<number, () => Promise<ProbeResult>>();
  readonly requests: (readonly [channel: number, model: string])[] = [];

  async test({ id }: { id: number }, model: string): Promise<ProbeResult> {
    this.requests.push([id, model]);
    return this.results.get(id)?.() ?? this.result;
  }
}

class FakeBalances implements ChannelBalances {
  readonly results = new Map<number, () => Promise<string>>();
  readonly requests: number[] = [];

  async of({ id }: { id: number }): Promise<{ balance: string; currency: string }> {
    this.requests.push(id);
    const result = this.results.get(id);
    if (result === undefined) throw new Failure('balance-not-told', { reason: 'status code: 401' });
    return { balance: await result(), currency: 'CNY' };
  }
}

class FakeEngines implements Engines {
  readonly asked: Parameters<Engines['at']>[0][] = [];

  async at(address: Parameters<Engines['at']>[0]): Promise<FoundEngine> {
    this.asked.push(address);
    return { id: 'vllm', version: '0.11.0', baseUrl: address.baseUrl, models: ['qwen3'], needsKey: false };
  }
}

class FakeUpstreamModels implements UpstreamModels {
  models: readonly UpstreamModel[] = [{ name: 'gpt-5', modes: ['chat'] }];
  readonly requests: UpstreamConnection[] = [];

  async of(connection: UpstreamConnection): Promise<readonly UpstreamModel[]> {
    this.requests.push(connection);
    return this.models;
  }
}

export type MemoryNode = Awaited<ReturnType<typeof openMemoryNode>>;

/** With what an order is given that needs no proof, whatever the user has. */
export const trustedProof: SessionProof = { session: 'believed', stepUp: null };

/** All commands of one node over a log in memory. With a store given, the node shares that log with others. */
export async function openMemoryNode(
  store = new TestStore(),
  ids = new CountingIds(),
  vault = new MemoryVault(),
  unsettledOrders = new MemoryPendingIdempotencyKeys(),
) {
  const clock = settableClock(someInstant);
  const directory = await openDirectory({
    store,
    source: {
      snapshot: async () => ({ channels: [], options: new Map(), prices: new Map(), position: beginning }),
      apiKeyIdByHash: async () => null,
    },
    prices: noPrices,
    at: clock.now(),
    providers: testProviders,
    capacity: 1_000,
  });
  const gate = openQuotaGate(accountSource(store), { capacity: 1_000, after: beginning, clock });
  const tail = followTail(store, beginning, [directory, gate]);
  await tail.reached(await store.head(), 1_000);
  const warned: object[] = [];
  const ports = {
    ...{ store, clock, ids, vault, directory, gate, tail },
    handle: handle(store, clock),
    once: idempotencyStore({ hash: (text) => vault.hash(text), clock, unsettledOrders }),
    personal: new MemoryPersonalData(),
    passwords: new DigestPasswords(),
    sessions: new MemorySessions(clock),
    tickets: new MemoryTickets(clock),
    codes: totpCodes,
    warned,
    warn: (facts: object) => void warned.push(facts),
    apiKeyCounts: apiKeyCounts(store),
    redemptionByHash: redemptionByHash(store),
    progress: { reached: async () => true },
    probe: new FakeProbe(),
    balances: new FakeBalances(),
    upstreamModels: new FakeUpstreamModels(),
    engines: new FakeEngines(),
    setupCodes: [] as string[],
    providers: testProviders,
    outbound: new RecordingOutbound(),
    secretOf: async () => null,
    allowHttp: false,
  };
  const factors = factorMemory(store, 1_000);
  tail.add(factors);
  const passkeys = passkeyCeremonies({ ...ports, factors, checks: webauthnPasskeys });
  const guessed: (readonly [UserId, 'password' | 'factor'])[] = [];
  const proving = secondFactor({
    ...ports,
    factors,
    ceremonies: passkeys,
    guessed: (user) => void guessed.push([user, 'factor']),
  });
  const checking = passwordChecks({ ...ports, guessed: (user) => void guessed.push([user, 'password']) });
  const mailer = new MemoryMailer();
  const asked = stepUps({
    ...ports,
    factors,
    secondFactor: proving,
    passwordChecks: checking,
    mailer,
    limits: mailLimits(clock),
    hash: (text) => vault.hash(text),
  });
  const proven = {
    ...asked,
    /** Orders that a test gives without any face are believed; those with a session are asked for a proof. */
    demand: async <Result>(
      user: { id: UserId },
      purpose: StepUpPurpose,
      sessionProof: SessionProof,
      order: () => Promise<Result>,
    ): Promise<Result> => {
      const isAsked = sessionProof !== noStepUp || (await proving.methods(user.id)).length > 0;
      return isAsked && sessionProof !== trustedProof ? asked.demand(user, purpose, sessionProof, order) : order();
    },
  };
  const proofs = {
    ...ports,
    ...{ factors, passkeys, mailer, guesses: guessed },
    secondFactor: proving,
    stepUps: proven,
    passwordChecks: checking,
  };
  const entry = identity({ ...proofs, source: identitySource(store) });
  const users = { ...userCommands(proofs), ...userSettingsCommands(ports) };
  return {
    ...proofs,
    users,
    factorOrders: factorCommands({ ...proofs, passkeysOf: passkeysOf(store) }),
    ownSessions: ownSessions({ ...proofs, ended: entry.ended }),
    apiKeys: apiKeyCommands(ports),
    channels: {
      ...channelCommands(ports),
      ...channelTests(ports),
      ...channelBalanceCommands(ports),
      ...upstreamModelCommands(ports),
      ...channelFileCommands(ports),
    },
    redemptions: redemptionCommands(ports),
    options: optionCommands(ports),
    prices: priceCommands(ports),
    setup: setupCommands({ ...ports, users, code: setupCode((code) => ports.setupCodes.push(code)) }),
    identity: entry,

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
