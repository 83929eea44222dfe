import type { RepairPreview, RepairRow } from '../../application/audit/repair/repair-preview.js';
import type { RepairState, RightPriceOrigin } from '../../domain/repair/repair.js';
import type { PriceRepairRow } from '../../projections/models/price-repairs.js';

/* Repairs in words, for a terminal. */

/** Rows that are printed. */
const shown = 20;

const states: Readonly<Record<RepairState, string>> = {
  posting: 'being posted',
  posted: 'posted',
  undoing: 'being undone',
  undone: 'undone',
};

const originText = (origin: RightPriceOrigin): string =>
  origin.kind === 'file' ? `the prices in ${origin.name}` : `the prices of ${new Date(origin.at).toISOString()}`;

const signed = (amount: bigint): string => (amount > 0n ? `+${amount}` : String(amount));

const rowText = ({ userId, model, calls, charged, right }: RepairRow): string =>
  `  user ${userId}, ${model}: ${calls} calls, ${charged} -> ${right} (${signed(right - charged)})`;

export function previewLines({ order, rows, seen, left, unpriced }: RepairPreview): string[] {
  const { calls, given, taken } = order.planned;
  return [
    `${calls} of ${seen} calls are to be corrected by ${originText(order.right.origin)}: ${given} given back, ${taken} charged.`,
    ...(left.calls > 0
      ? [`${left.calls} calls cost ${left.amount} too little and stay as they are; --charge charges them.`]
      : []),
    ...(unpriced > 0 ? [`${unpriced} calls have no price there, and stay as they are.`] : []),
    ...rows.slice(0, shown).map(rowText),
    ...(rows.length > shown ? [`  and ${rows.length - shown} more`] : []),
    `Digest: ${order.digest}`,
  ];
}

export function repairLine({ id, at, state, planned, posted, changed, undone, ...repair }: PriceRepairRow): string {
  const parts = [
    `${id} of ${new Date(at).toISOString()}: ${states[state]}`,
    `${posted.calls} of ${planned.calls} calls, ${posted.given} given back, ${posted.taken} charged`,
    ...(changed > 0 ? [`${changed} left, as they had changed`] : []),
    ...(repair.is_abandoned ? ['given up: its calls were not found again'] : []),
    ...(undone.calls > 0 ? [`${undone.calls} taken back`] : []),
    ...(repair.undo_changed > 0 ? [`${repair.undo_changed} not taken back, as they had changed`] : []),
  ];
  return parts.join('; ');
}

/** Sums have no end: they are written as text. */
export const repairJson = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? String(member) : member));
