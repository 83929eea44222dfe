import type { AuditedInput, AuditedKind, MovementCause } from '../generated/audit/audit.js';

/* What of the quota history is looked at, as it stands in the address. */

export const kinds = [
  'USER',
  'API_KEY',
  'CHANNEL',
  'CODE',
  'PAYMENT',
  'TASK',
  'CALL',
] as const satisfies readonly AuditedKind[];
export const causes = [
  'GRANT',
  'ADJUSTMENT',
  'TOP_UP',
  'TOP_UP_RETURN',
  'REDEMPTION',
  'INVITE_REWARD',
  'INVITE_TRANSFER',
  'ALLOWANCE',
  'RESERVATION',
  'SETTLEMENT',
  'RELEASE',
  'SUSPENSE',
  'REFUND',
  'CORRECTION',
] as const satisfies readonly MovementCause[];

/** `own`: the id of who looks. */
export const auditDefaults = (own: string) => ({
  kind: 'USER',
  id: own,
  cause: '',
  /** Unix seconds; 0: open. */
  from: 0,
  to: 0,
  /** Unix seconds; 0: now. */
  at: 0,
});

export type AuditParams = Readonly<ReturnType<typeof auditDefaults>>;

export interface Looked {
  readonly of: AuditedInput;
  readonly causes: MovementCause[] | null;
  readonly from: number | null;
  readonly to: number | null;
}

/** Whose history it is. */
export const auditedIn = ({ kind, id }: Pick<AuditParams, 'kind' | 'id'>): AuditedInput => ({
  kind: kinds.find((name) => name === kind) ?? 'USER',
  id,
});

export function lookedAt(params: AuditParams): Looked {
  const { cause, from, to } = params;
  const known = causes.find((name) => name === cause);
  return {
    of: auditedIn(params),
    causes: known === undefined ? null : [known],
    from: from > 0 ? from : null,
    to: to > 0 ? to : null,
  };
}

export const activeFilters = (params: AuditParams, own: string): number =>
  [params.id !== own || params.kind !== 'USER', params.cause !== '', params.from > 0, params.to > 0].filter(Boolean)
    .length;

/** As names are written in addresses of files. */
const inAddress = (name: string): string => name.toLowerCase().replaceAll('_', '-');

/** The same as a file of it is asked for. */
export const exportQueryOf = ({ of, causes: only, from, to }: Looked): Record<string, string> => ({
  kind: inAddress(of.kind),
  id: of.id,
  ...(only !== null && { cause: only.map(inAddress).join(',') }),
  ...(from !== null && { from: String(from) }),
  ...(to !== null && { to: String(to) }),
});
