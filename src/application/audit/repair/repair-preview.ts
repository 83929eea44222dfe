import type { Position } from '../../../domain/events/events.js';
import type { Moment } from '../../../domain/events/moment.js';
import { checkText, type TextBound } from '../../../domain/kernel/bounds.js';
import { invalidField } from '../../../domain/kernel/failure.js';
import type { UserId } from '../../../domain/kernel/ids.js';
import { Instant, unixSeconds } from '../../../domain/kernel/instant.js';
import type { RatioTable } from '../../../domain/pricing/price-tables.js';
import type { PriceRecords } from '../../../domain/pricing/records/price-records.js';
import type { RepairOrdered, RepairScope } from '../../../domain/repair/repair.js';
import type { ReadModels } from '../../../projections/database.js';
import { positionBefore } from '../../../projections/models/usage-log/usage-log-hours.js';
import type { EventLines } from '../../ports/seal-ports.js';
import type { EventStore } from '../../ports/storage-ports.js';
import { type Archives, checkKept, settledSince } from './kept-calls.js';
import { digestOf, type PlannedCorrection, planRepair, type RepairPlan, sumsOf } from './repair-plan.js';
import { LookedUpPrices, pricesHeld, pricesInFile } from './right-prices.js';

/* What a repair would post: shown before anybody orders it, and made again when somebody does. */

/** The prices that were right. */
type RightPricesAsked =
  | {
      readonly file: string;
      readonly records: PriceRecords;
      readonly groupRatio: RatioTable;
      readonly quotaPerUnit: string;
    }
  /** As they were then. */
  | { readonly heldAt: Moment };

export interface RepairRequest {
  readonly scope: RepairScope;
  readonly right: RightPricesAsked;
  readonly isCharging: boolean;
}

export interface PreviewPorts {
  readonly archives: Archives;
  readonly db: ReadModels;
  readonly lines: EventLines;
  readonly store: Pick<EventStore, 'readStream'>;
  /** Told now and then: the position that it has come to. */
  readonly reading?: ((position: number) => void) | undefined;
}

export interface RepairPreview extends RepairPlan {
  /** What is ordered when this is posted. */
  readonly order: Omit<RepairOrdered, 'by' | 'type'>;
  readonly rows: readonly RepairRow[];
}

/** Calls of a user and a model that are to be corrected. */
export interface RepairRow {
  readonly userId: UserId;
  readonly model: string;
  readonly calls: number;
  readonly charged: bigint;
  readonly right: bigint;
}

/** Clocks of nodes that served one after the other may differ. */
const earlyMs = 2 * 3_600_000;
const nameText: TextBound = { max: 200 };

/** Throws `invalid-field`. */
function checkRequest({ scope, right }: RepairRequest): void {
  if (scope.from >= scope.to) throw invalidField('to', 'later than from');
  for (const name of ['model', 'group'] as const) {
    const value = scope[name];
    if (value !== null) checkText(name, value, nameText);
  }
  if ('file' in right) checkText('prices', right.file, nameText);
}

async function sourceOf(db: ReadModels, right: RightPricesAsked) {
  if ('heldAt' in right) return pricesHeld(db, right.heldAt);
  return pricesInFile(right.file, right.records, right.groupRatio, right.quotaPerUnit);
}

/** As of `upTo`. Throws `invalid-field`, and `log-archived` where some of the calls are in an archive. */
export async function previewRepair(
  ports: PreviewPorts,
  request: RepairRequest,
  upTo: Position,
): Promise<RepairPreview> {
  checkRequest(request);
  const { scope, isCharging } = request;
  await checkKept(ports.archives, settledSince(scope.from));
  const prices = new LookedUpPrices(await sourceOf(ports.db, request.right));
  const after = await positionBefore(ports.db, unixSeconds(Instant(Math.max(0, scope.from - earlyMs))));
  const plan = await planRepair(ports, { scope, isCharging, after, upTo }, prices);
  const kept = { scope, right: prices.kept(), isCharging };
  const digest = digestOf(kept, plan.corrections);
  const planned = sumsOf(plan.corrections);
  const order = { ...kept, after: Number(after), upTo: Number(upTo), digest, planned };
  return { ...plan, order, rows: rowsOf(plan.corrections) };
}

const mostFirst = (one: RepairRow, other: RepairRow): number => {
  const [a, b] = [one.charged - one.right, other.charged - other.right];
  const [sizeA, sizeB] = [a < 0n ? -a : a, b < 0n ? -b : b];
  return sizeA === sizeB ? one.userId - other.userId || (one.model < other.model ? -1 : 1) : sizeA > sizeB ? -1 : 1;
};

function rowsOf(corrections: readonly PlannedCorrection[]): RepairRow[] {
  const rows = new Map<string, RepairRow>();
  for (const { userId, model, from, wanted } of corrections) {
    const key = `${userId} ${model}`;
    const { calls, charged, right } = rows.get(key) ?? { calls: 0, charged: 0n, right: 0n };
    const sums = { calls: calls + 1, charged: charged + BigInt(from.charged), right: right + BigInt(wanted) };
    rows.set(key, { userId, model, ...sums });
  }
  return [...rows.values()].sort(mostFirst);
}
