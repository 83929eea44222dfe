/* Where the usage log shows what a figure is made of. */

export interface LogOf {
  /** Unix seconds, `to` exclusive. */
  readonly from: number;
  readonly to: number;
  readonly type?: 'CONSUME' | 'ERROR';
  readonly model?: string;
  /** The id. */
  readonly channel?: string;
  /** By name, as the log's filters are. */
  readonly user?: string;
  readonly token?: string;
  readonly group?: string;
  /** The codes that the callers of failed and refused calls were answered. */
  readonly code?: string;
}

export function logLink({ from, to, ...filters }: LogOf): string {
  // The log counts its last second in.
  const query = new URLSearchParams({ range: 'custom', from: String(from), to: String(to - 1) });
  for (const [name, value] of Object.entries(filters)) if (value) query.set(name, value);
  return `/log?${query}`;
}
