import type { AccountSource, QuotaSnapshot } from '../../src/application/memory/quota-account-cache.js';
import type { ReadModelProgress } from '../../src/application/ports/storage-ports.js';
import type { CallReserved } from '../../src/domain/call/call.js';
import { beginning, type Position, type Recorded, streamKey } from '../../src/domain/events/events.js';
import { type ApiKeyId, CallId, type UserId } from '../../src/domain/kernel/ids.js';
import type { Instant } from '../../src/domain/kernel/instant.js';
import { movementsOf } from '../../src/domain/ledger/movements.js';
import type { OpenCall } from '../../src/projections/models/ledger/ledger-queries.js';
import type { SimulatedLog } from './simulated-store.js';

/*
 * The ledger as a read model that outlives processes. It is folded from the same postings as the one in Postgres, in
 * batches that are committed with their position or not at all.
 */

interface Open extends OpenCall {
  readonly reservation: CallReserved;
  readonly since: Instant;
}

interface Tables {
  readonly position: Position;
  readonly balances: ReadonlyMap<string, bigint>;
  readonly open: ReadonlyMap<CallId, Open>;
}

const maxBatch = 12;
/** Turns that somebody waits for it, before the answer is that it has not come so far. */
const patience = 40;

function folded(tables: Tables, batch: readonly Recorded[]): Tables {
  const balances = new Map(tables.balances);
  const open = new Map(tables.open);
  let { position } = tables;
  for (const recorded of batch) {
    ({ position } = recorded);
    for (const { postings } of movementsOf(recorded))
      for (const posting of postings) {
        const account =
          posting.owner === 'house'
            ? posting.part
            : posting.owner === 'inviter'
              ? `inviter:${posting.id}`
              : `${posting.owner}:${posting.id}:${posting.part}`;
        balances.set(account, (balances.get(account) ?? 0n) + posting.amount);
      }
    const { event, stream, at } = recorded;
    const callId = CallId(streamKey(stream));
    if (event.type === 'CallReserved') open.set(callId, { callId, reservation: event, position, since: at });
    else if (event.type === 'CallSettled' || event.type === 'CallReleased') open.delete(callId);
  }
  return { position, balances, open };
}

export class SimulatedLedger {
  tables: Tables = { position: beginning, balances: new Map(), open: new Map() };

  constructor(private readonly log: SimulatedLog) {}

  /** The projector of one process; ends with it. */
  async project(owner: symbol): Promise<never> {
    for (;;) {
      const { scheduler, events } = this.log;
      const batch = await events.readAll(this.tables.position, scheduler.whole(1, maxBatch));
      if (batch.length === 0) {
        await this.log.news(owner);
        continue;
      }
      const next = folded(this.tables, batch);
      // Whoever dies here has changed nothing.
      await scheduler.turn(owner);
      this.tables = next;
    }
  }

  private balanceOf(owner: 'user' | 'api-key', id: number): bigint {
    const { balances } = this.tables;
    return (balances.get(`${owner}:${id}:available`) ?? 0n) + (balances.get(`${owner}:${id}:reserved`) ?? 0n);
  }

  private async snapshot(owner: symbol, kind: 'user' | 'api-key', id: number): Promise<QuotaSnapshot> {
    await this.log.scheduler.turn(owner);
    const { open, position } = this.tables;
    const own = [...open.values()].filter(({ reservation: { facts } }) =>
      kind === 'user' ? facts.userId === id : facts.apiKeyId === id,
    );
    const reservations = own.map(({ callId, reservation }) => ({ callId, quota: reservation.reserved }));
    const snapshot = { balance: this.balanceOf(kind, id), spending: [], reservations, position };
    await this.log.scheduler.turn(owner);
    return snapshot;
  }

  sourceFor(owner: symbol): AccountSource {
    return {
      user: (id: UserId) => this.snapshot(owner, 'user', id),
      apiKey: (id: ApiKeyId) => this.snapshot(owner, 'api-key', id),
      caughtUp: (position) => this.reached(owner, position),
      between: async (after, to) => {
        await this.log.scheduler.turn(owner);
        const events = await this.log.events.readAll(after, Number.MAX_SAFE_INTEGER);
        return events.filter(({ position }) => position <= to);
      },
    };
  }

  private async reached(owner: symbol, position: Position): Promise<boolean> {
    for (let waited = 0; waited < patience && this.tables.position < position; waited++)
      await this.log.scheduler.turn(owner);
    return this.tables.position >= position;
  }

  progressFor(owner: symbol): Pick<ReadModelProgress, 'reached' | 'status'> {
    return {
      reached: (position) => this.reached(owner, position),
      status: () =>
        [{ name: 'ledger', position: this.tables.position }] as unknown as ReturnType<ReadModelProgress['status']>,
    };
  }

  async openCalls(
    owner: symbol,
    { after, upTo, limit }: { readonly after: Position | null; readonly upTo: Position; readonly limit: number },
  ): Promise<OpenCall[]> {
    await this.log.scheduler.turn(owner);
    return [...this.tables.open.values()]
      .filter(({ position }) => position > (after ?? beginning) && position <= upTo)
      .slice(0, limit);
  }
}
