import type { RepairPreviewQueryVariables } from '../../generated/audit/repairs/repairs.js';
import { hasWrongRatio, namedRatios, type TypedRatio } from '../other-prices/groupRatios.js';
import type { PriceFile } from '../other-prices/PriceFileField.js';
import { lastDays, type SettledPeriod } from '../other-prices/period.js';

/* Which calls, and what was right for them, as it is typed. */

export type RepairInput = RepairPreviewQueryVariables['input'];

export const filters = ['model', 'userId', 'group', 'channelId', 'apiKeyId'] as const;
export const origins = ['at', 'position', 'file'] as const;

export interface RepairDraft {
  readonly period: SettledPeriod;
  /** Empty: of all. */
  readonly scope: Readonly<Record<(typeof filters)[number], string>>;
  readonly origin: (typeof origins)[number];
  /** null: at the beginning of the period. */
  readonly heldAt: number | null;
  readonly position: string;
  readonly file: PriceFile | 'too-large' | null;
  readonly ratios: readonly TypedRatio[];
  readonly isCharging: boolean;
}

export const newDraft = (): RepairDraft => ({
  period: lastDays(7),
  scope: { model: '', userId: '', group: '', channelId: '', apiKeyId: '' },
  origin: 'at',
  heldAt: null,
  position: '',
  file: null,
  ratios: [],
  isCharging: false,
});

export const heldAtOf = ({ heldAt, period }: RepairDraft): number => heldAt ?? period.from;

export const isWrongPosition = ({ position }: RepairDraft): boolean => !/^[1-9]\d{0,14}$/.test(position.trim());

/** Neither a file nor a ratio is given, and they are asked for. */
export const lacksPrices = ({ origin, file, ratios }: RepairDraft): boolean =>
  origin === 'file' && file === null && namedRatios(ratios).length === 0;

function rightIn(draft: RepairDraft): Partial<RepairInput> | null {
  const { origin, file, ratios, position } = draft;
  if (origin === 'at') return { heldAt: { at: heldAtOf(draft) } };
  if (origin === 'position') return isWrongPosition(draft) ? null : { heldAt: { position: Number(position) } };
  if (lacksPrices(draft) || file === 'too-large' || hasWrongRatio(ratios)) return null;
  return {
    ...(file !== null && { prices: file.text, pricesName: file.name }),
    groupRatios: namedRatios(ratios).map(({ group, ratio }) => `${group}=${ratio}`),
  };
}

/** null: it cannot be asked yet. */
export function inputIn(draft: RepairDraft): RepairInput | null {
  const { period, scope, isCharging } = draft;
  const right = rightIn(draft);
  if (right === null || period.from >= period.to) return null;
  const named = filters.map((name) => [name, scope[name].trim()] as const).filter(([, value]) => value !== '');
  return { ...period, ...Object.fromEntries(named), ...right, charge: isCharging };
}
