import { microsecondsEach } from './cpu.js';
import type { Costed } from './rig.js';
import { medianOf, type Round } from './rounds.js';
import { table, whole } from './table.js';

/* What a call costs each process, by the route it takes. */

const processes = ['gateway', 'postgres', 'proxy', 'provider', 'load'] as const;

/** CPU microseconds per call; the medians of the rounds. */
export type Costs = Readonly<Record<string, Readonly<Record<(typeof processes)[number], number | null>>>>;

/** null: the system does not say. */
const costOf = (rounds: readonly Round<Costed>[], route: string, process: string): number | null => {
  const found = medianOf(rounds, route, ({ cpu, sent }) => microsecondsEach(cpu, process, sent));
  return Number.isNaN(found) ? null : Math.round(found);
};

export const costsOf = (rounds: readonly Round<Costed>[], routes: readonly string[]): Costs =>
  Object.fromEntries(
    routes.map((route) => [
      route,
      Object.fromEntries(processes.map((process) => [process, costOf(rounds, route, process)])) as Costs[string],
    ]),
  );

/** `missing`: why there is nothing to report. */
export function costLines(costs: Costs, missing: string | null): string[] {
  if (missing !== null) return [missing];
  return table(
    ['CPU µs per call', ...processes],
    Object.entries(costs).map(([route, of]) => [route, ...processes.map((name) => whole(of[name] ?? Number.NaN))]),
  );
}

/** Our gateway's CPU per call against what the proxy takes for one; null where the system does not say. */
export function costRatio(costs: Costs): number | null {
  const [ours, theirs] = [costs.tallygate?.gateway, costs.proxy?.proxy];
  return ours == null || !theirs ? null : Math.round((ours / theirs) * 1000) / 1000;
}
