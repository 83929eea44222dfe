import { accountSource } from '../application/memory/account-source.js';
import { openDirectory } from '../application/memory/directory.js';
import { directorySource } from '../application/memory/directory-source.js';
import { liveTraffic } from '../application/memory/live-traffic.js';
import { openQuotaGate } from '../application/memory/quota-gate.js';
import { followTail } from '../application/memory/tail.js';
import type { EventStore } from '../application/ports/storage-ports.js';
import { defaultPrices } from '../application/prices/default-prices.js';
import { followPriceCalendar } from '../application/prices/price-calendar.js';
import { beginning, type Position } from '../domain/events/events.js';
import type { ProjectionRunner } from '../projections/engine/runner.js';
import { providerTable } from '../relay/providers/registry.js';
import { directoryCapacity } from '../relay-process/runtime.js';
import type { RelayWorkers } from '../relay-process/workers/relay-workers.js';
import type { NodeStart } from './node-start.js';
import type { NodeProjections } from './open-projections.js';

/* What this node keeps in memory, and follows the log for. */

interface MemoryParts {
  readonly store: EventStore;
  readonly readModels: Pick<NodeProjections, 'db' | 'progress'>;
  /** null: this process serves all calls itself. */
  readonly workers: RelayWorkers | null;
}

/** Longest a start waits for what has been written already. */
const catchUpMs = 60_000;

/** Resolves once everything that is in the log now is in memory too. */
export async function openMemory(node: NodeStart, { store, readModels: { db, progress }, workers }: MemoryParts) {
  const { clock, log, closing, ending } = node;
  const directory = await openDirectory({
    store,
    source: directorySource(db, (name) => positionOf(progress, name)),
    prices: defaultPrices(clock.now()),
    at: clock.now(),
    providers: providerTable,
    capacity: directoryCapacity,
  });
  closing.add(followPriceCalendar(directory, clock));
  const gate = openQuotaGate(accountSource(db, progress, store), {
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
  await tail.reached(await store.head(), catchUpMs);
  return { directory, gate, traffic, tail };
}

export type NodeMemory = Awaited<ReturnType<typeof openMemory>>;

const positionOf = (progress: Pick<ProjectionRunner, 'status'>, name: string): Position =>
  progress.status().find((model) => model.name === name)?.position ?? beginning;
