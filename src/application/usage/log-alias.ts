import type { LogDetail } from '../../projections/models/usage-log/log-detail.js';

/** What a line says beside its columns and its alias. */
export type ToldDetail = Exclude<LogDetail, { readonly kind: 'aliased' | 'task-submitted' }>;

export const toldDetail = (detail: LogDetail | null): ToldDetail | null =>
  detail?.kind === 'aliased' || detail?.kind === 'task-submitted' ? null : detail;

/** The name that the caller asked by; null: the model's own. */
export const aliasIn = (detail: LogDetail | null): string | null =>
  detail?.kind === 'aliased' || detail?.kind === 'released' || detail?.kind === 'task-submitted'
    ? (detail.alias ?? null)
    : null;
