import { LRUCache } from 'lru-cache';
import type { Position } from '../../../domain/events/events.js';
import type { Moment } from '../../../domain/events/moment.js';
import { Failure, invalidField } from '../../../domain/kernel/failure.js';
import type { RepairId } from '../../../domain/kernel/ids.js';
import type { RepairScope } from '../../../domain/repair/repair.js';
import type { Actor } from '../../../domain/user/user.js';
import { optionHistory } from '../../../projections/models/option-history.js';
import { priceHistory } from '../../../projections/models/price-history.js';
import { type PriceRepairRow, priceRepairRow, priceRepairRows } from '../../../projections/models/price-repairs.js';
import { quotaHistory } from '../../../projections/models/quota-history/quota-history.js';
import { usageLog } from '../../../projections/models/usage-log/usage-log.js';
import { authorise } from '../../authorise.js';
import { type ConsistencyPorts, waitForHead } from '../../consistency.js';
import type { Handle } from '../../handle.js';
import type { NodeDirectory } from '../../memory/directory.js';
import { type GroupRatio, groupRatiosIn, recordsIn } from '../what-if-queries.js';
import { checkDigest, type OrderedRepair, orderedBefore, orderRepair, orderUndo } from './order-repair.js';
import type { PlannedCorrection } from './repair-plan.js';
import { type PreviewPorts, previewRepair, type RepairPreview, type RepairRequest } from './repair-preview.js';

/* Price repairs for people: to be previewed by whoever audits, and posted and undone by root. */

interface RepairDeskPorts extends ConsistencyPorts, Omit<PreviewPorts, 'reading'> {
  readonly handle: Handle;
  readonly directory: Pick<NodeDirectory, 'settings'>;
}

/** As somebody asks for it: the right prices in a file, other ratios of groups, or what held at a moment. */
export interface RepairAsked {
  readonly scope: RepairScope;
  readonly isCharging: boolean;
  readonly heldAt: Moment | null;
  readonly file: { readonly name: string; readonly text: string } | null;
  readonly groupRatios: readonly GroupRatio[];
}

/** Requests of previews that can be posted: after others, or another start, they are made again. */
const remembered = 8;
/** What its prices come from. */
const histories = [usageLog.name, optionHistory.name, priceHistory.name, quotaHistory.name];

const outdated = (): Failure => new Failure('repair-preview-outdated');

export function repairDesk({ handle, directory, ...ports }: RepairDeskPorts) {
  const requests = new LRUCache<string, RepairRequest>({ max: remembered });
  /** What somebody is posting just now, by its digest. */
  const ordering = new Map<string, Promise<OrderedRepair>>();
  let isPlanning = false;

  /** The log is read by one at a time: throws `too-many-attempts`. */
  const alone = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (isPlanning) throw new Failure('too-many-attempts');
    isPlanning = true;
    try {
      return await work();
    } finally {
      isPlanning = false;
    }
  };

  const requested = (digest: string): RepairRequest => {
    checkDigest(digest);
    const request = requests.get(digest);
    if (request === undefined) throw outdated();
    return request;
  };

  return {
    /** Throws `invalid-field`, `log-archived`, `too-many-attempts`, and `store-unavailable` while histories are being read anew. */
    async preview(viewer: Actor, asked: RepairAsked): Promise<RepairPreview> {
      authorise(viewer, 'root-reading');
      const request = requestOf(asked, directory.settings().prices.quotaPerUnit);
      return alone(async () => {
        const preview = await previewRepair(ports, request, await waitForHead(ports, histories));
        requests.set(preview.order.digest, request);
        return preview;
      });
    },

    /** All calls of a preview. Throws `repair-preview-outdated` where it would be another one by now. */
    async calls(viewer: Actor, digest: string): Promise<readonly PlannedCorrection[]> {
      authorise(viewer, 'root-reading');
      const request = requested(digest);
      const { order, corrections } = await alone(async () =>
        previewRepair(ports, request, await waitForHead(ports, histories)),
      );
      if (order.digest !== digest) throw outdated();
      return corrections;
    },

    /** What was previewed, and nothing else. Given again it is the same repair. Throws `repair-preview-outdated`. */
    async post(actor: Actor, digest: string): Promise<OrderedRepair> {
      authorise(actor, 'root');
      checkDigest(digest);
      const before = await orderedBefore(ports, digest);
      if (before !== null) return before;
      const underWay = ordering.get(digest);
      if (underWay !== undefined) return underWay;
      const request = requested(digest);
      const ordered = alone(async () => {
        const upTo = await waitForHead(ports, histories);
        const order = { by: actor.id, request, digest, upTo };
        return orderRepair({ ...ports, handle: handle.by(actor) }, order);
      }).finally(() => ordering.delete(digest));
      ordering.set(digest, ordered);
      return ordered;
    },

    /** Throws `repair-not-found`, `repair-under-way`, `log-archived`. */
    undo(actor: Actor, id: RepairId): Promise<Position> {
      authorise(actor, 'root');
      return orderUndo({ ...ports, handle: handle.by(actor) }, actor.id, id);
    },

    ...repairReading(ports),
  };
}

function repairReading({ db }: Pick<RepairDeskPorts, 'db'>) {
  return {
    /** Newest first, those before a position; null: from the newest. */
    async list(
      viewer: Actor,
      { before, first }: { readonly before: Position | null; readonly first: number },
    ): Promise<{ readonly items: readonly PriceRepairRow[]; readonly hasMore: boolean }> {
      authorise(viewer, 'root-reading');
      const rows = await priceRepairRows(db, { before, limit: first + 1 });
      return { items: rows.slice(0, first), hasMore: rows.length > first };
    },

    /** null: there is none. */
    async single(viewer: Actor, id: RepairId): Promise<PriceRepairRow | null> {
      authorise(viewer, 'root-reading');
      return priceRepairRow(db, id);
    },
  };
}

/** Throws `invalid-field`. */
function requestOf({ scope, isCharging, heldAt, file, groupRatios }: RepairAsked, quotaPerUnit: string): RepairRequest {
  const isStated = file !== null || groupRatios.length > 0;
  if ((heldAt !== null) === isStated)
    throw invalidField('heldAt', 'the moment at which the prices were right, or else prices or groupRatios');
  if (heldAt !== null) return { scope, isCharging, right: { heldAt } };
  const groupRatio = groupRatiosIn(groupRatios);
  const records = file === null ? new Map() : recordsIn(file.text);
  return { scope, isCharging, right: { file: file?.name ?? 'groupRatios', records, groupRatio, quotaPerUnit } };
}
