import { type Position, streams } from '../../../domain/events/events.js';
import { Failure, invalidField } from '../../../domain/kernel/failure.js';
import type { RepairId } from '../../../domain/kernel/ids.js';
import { type RepairOrderer, repairDecider, repairIdOf } from '../../../domain/repair/repair.js';
import type { Run } from '../../handle.js';
import { behind, checkKept } from './kept-calls.js';
import { type PreviewPorts, previewRepair, type RepairPreview, type RepairRequest } from './repair-preview.js';

/* Orders of repairs: of what was previewed, and nothing else. */

interface OrderPorts extends PreviewPorts {
  readonly handle: Run;
}

interface OrderAsked {
  readonly by: RepairOrderer;
  readonly request: RepairRequest;
  /** Of the preview. */
  readonly digest: string;
  readonly upTo: Position;
}

export interface OrderedRepair {
  readonly id: RepairId;
  readonly position: Position;
}

/** Throws `invalid-field`. */
export function checkDigest(digest: string): void {
  if (!/^[0-9a-f]{64}$/.test(digest)) throw invalidField('digest', 'the digest of a preview');
}

/** A repair that was ordered under this digest; null: none was. */
export async function orderedBefore(
  { store }: Pick<OrderPorts, 'store'>,
  digest: string,
): Promise<OrderedRepair | null> {
  const id = repairIdOf(digest);
  const [ordered] = await store.readStream(streams.repair(id));
  return ordered?.event.type === 'RepairOrdered' && ordered.event.digest === digest
    ? { id, position: ordered.position }
    : null;
}

/** Whoever orders the same again gets the same repair. Throws `repair-preview-outdated`, and as previews do. */
export async function orderRepair(
  { handle, ...ports }: OrderPorts,
  { by, request, digest, upTo }: OrderAsked,
): Promise<OrderedRepair> {
  checkDigest(digest);
  const before = await orderedBefore(ports, digest);
  if (before !== null) return before;
  const { order }: RepairPreview = await previewRepair(ports, request, upTo);
  if (order.digest !== digest) throw new Failure('repair-preview-outdated');
  if (order.planned.calls === 0) throw invalidField('digest', 'that of a preview with calls to correct');
  const id = repairIdOf(digest);
  const event = { type: 'RepairOrdered', by, ...order } as const;
  const { position } = await handle(repairDecider, streams.repair(id), { type: 'Order', event });
  return { id, position };
}

/** Throws `repair-not-found`, `repair-under-way`, and `log-archived` where calls of it may be in an archive. */
export async function orderUndo(
  { handle, store, archives }: Pick<OrderPorts, 'handle' | 'store' | 'archives'>,
  by: RepairOrderer,
  id: RepairId,
): Promise<Position> {
  const [ordered] = await store.readStream(streams.repair(id));
  if (ordered !== undefined) await checkKept(archives, behind(ordered.position));
  const { position } = await handle(repairDecider, streams.repair(id), { type: 'OrderUndo', by });
  return position;
}
