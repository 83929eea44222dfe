import type { RedemptionCodeInput } from '../generated/redemption/redemption.js';
import { formatQuota, type QuotaUnits } from '../kit/quota.js';

/* A batch of codes while somebody fills in its form. */

export interface RedemptionDraft {
  /** Empty: the quota, for new codes. */
  readonly name: string;
  /** null: nothing, or no amount, was typed. */
  readonly quota: number | null;
  readonly count: number | null;
}

export const newCodes: RedemptionDraft = { name: '', quota: 100_000, count: 1 };

/** By the server's rule: bytes, not letters. */
const maxNameBytes = 20;
const maxCount = 100;

type RedemptionProblem = 'name.long' | 'name.missing' | 'quota.invalid' | 'count.invalid';
export type RedemptionProblems = { readonly [Field in keyof RedemptionDraft]?: RedemptionProblem };

const bytes = (text: string): number => new TextEncoder().encode(text).length;

function nameProblem(name: string, isNew: boolean): RedemptionProblem | null {
  if (bytes(name.trim()) > maxNameBytes) return 'name.long';
  return !isNew && name.trim() === '' ? 'name.missing' : null;
}

const isWithin = (value: number | null, max: number): boolean =>
  value !== null && Number.isInteger(value) && value >= 1 && value <= max;

/** What is wrong, by field. */
export function problemsOf({ name, quota, count }: RedemptionDraft, isNew: boolean): RedemptionProblems {
  const named = nameProblem(name, isNew);
  return {
    ...(named !== null && { name: named }),
    ...(!isWithin(quota, Number.MAX_SAFE_INTEGER) && { quota: 'quota.invalid' as const }),
    ...(!isWithin(count, maxCount) && { count: 'count.invalid' as const }),
  };
}

/** Of a draft without problems. */
export function inputOf({ name, quota }: RedemptionDraft, units: QuotaUnits): RedemptionCodeInput {
  const worth = quota ?? 0;
  return { name: name.trim() || formatQuota(worth, units).slice(0, maxNameBytes), quota: worth };
}

/** What no file system minds in a name; `at`: Unix seconds. */
export function fileName(name: string, at: number): string {
  const day = new Date(at * 1000).toISOString().slice(0, 10);
  const safe = name.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').replaceAll(/^[-.]+|[-.]+$/g, '');
  return `redemption-codes${safe === '' ? '' : `-${safe}`}-${day}.txt`;
}
