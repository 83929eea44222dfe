import { readdir, readFile } from 'node:fs/promises';

/*
 * What processes cost, as the operating system counts it: /proc/<pid>/stat and /proc/<pid>/status of Linux. Elsewhere
 * there is nothing to read, and who asks learns why.
 */

export interface ProcessStat {
  readonly pid: number;
  readonly name: string;
  readonly parent: number;
  /** User and system time, that of children that have ended and been waited for included. */
  readonly cpuMs: number;
}

/** Hundredths of a second: what Linux shows to programs on every machine Node runs on, whatever the kernel counts in. */
const tickMs = 10;

/** The line of /proc/<pid>/stat; null: it is not one. The name may hold anything, brackets and blanks included. */
export function parseStat(line: string): ProcessStat | null {
  const [, pid, name = '', rest = ''] = /^(\d+) \((.*)\) (.*)$/s.exec(line) ?? [];
  const fields = rest.trim().split(' ');
  // state ppid … : utime, stime, cutime and cstime are fields 14 to 17 of the line, the name being the second.
  const ticks = fields.slice(11, 15).map(Number);
  const parent = Number(fields[1]);
  if (pid === undefined || ticks.length < 4 || [...ticks, parent].some((value) => !Number.isSafeInteger(value)))
    return null;
  return { pid: Number(pid), name, parent, cpuMs: ticks.reduce((sum, value) => sum + value, 0) * tickMs };
}

/** Resident bytes by the text of /proc/<pid>/status; null: it does not say. */
export function parseResident(status: string): number | null {
  const kibibytes = /^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1];
  return kibibytes === undefined ? null : Number(kibibytes) * 1024;
}

/** A process and all that it started, and they in turn. */
export function treeOf(processes: readonly ProcessStat[], root: number): ProcessStat[] {
  const found = processes.filter(({ pid }) => pid === root);
  for (const { pid } of found) found.push(...processes.filter(({ parent }) => parent === pid));
  return found;
}

/** Of a tree: the server processes of Postgres, or everything else. */
type Share = 'postgres' | 'all-but-postgres';

/** One of those whose costs are measured apart. */
export interface Counted {
  readonly root: number;
  readonly share: Share;
}

const membersOf = (processes: readonly ProcessStat[], { root, share }: Counted): ProcessStat[] =>
  treeOf(processes, root).filter(({ name }) => (name === 'postgres') === (share === 'postgres'));

/** Milliseconds of CPU time so far, by name. */
export type CpuReading = Readonly<Record<string, number>>;

export const cpuOf = (processes: readonly ProcessStat[], counted: Readonly<Record<string, Counted>>): CpuReading =>
  Object.fromEntries(
    Object.entries(counted).map(([name, one]) => [
      name,
      membersOf(processes, one).reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    ]),
  );

/** What was spent between two readings. */
export const cpuBetween = (before: CpuReading, after: CpuReading): CpuReading =>
  Object.fromEntries(Object.entries(after).map(([name, ms]) => [name, ms - (before[name] ?? 0)]));

/** CPU microseconds of a process for each of so many things done; NaN where the system does not say. */
export const microsecondsEach = (cpu: CpuReading, name: string, done: number): number =>
  ((cpu[name] ?? Number.NaN) * 1000) / Math.max(done, 1);

export interface ProcessMeter {
  /** Why it reads nothing; null: it does. */
  readonly missing: string | null;
  /** Nothing by any name where it is missing. */
  cpu(): Promise<CpuReading>;
  /** Bytes in memory, by name. */
  resident(): Promise<Readonly<Record<string, number>>>;
}

/** What is done, and what it has cost each process meanwhile. */
export async function costing<Value>(meter: ProcessMeter, work: () => Promise<Value>) {
  const before = await meter.cpu();
  const value = await work();
  return { value, cpu: cpuBetween(before, await meter.cpu()) };
}

async function statOf(pid: string): Promise<ProcessStat | null> {
  // It may have ended since it was listed.
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return parseStat(line);
}

async function allProcesses(): Promise<ProcessStat[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return (await Promise.all(pids.map(statOf))).filter((stat) => stat !== null);
}

const residentOf = async ({ pid }: ProcessStat): Promise<number> =>
  parseResident(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')) ?? 0;

/** Of this very process, `own`, and of the Postgres it has started. */
export const ownMeter = (): Promise<ProcessMeter> =>
  processMeter({
    own: { root: process.pid, share: 'all-but-postgres' },
    postgres: { root: process.pid, share: 'postgres' },
  });

export async function processMeter(counted: Readonly<Record<string, Counted>>): Promise<ProcessMeter> {
  if ((await statOf('self')) === null) {
    const missing = `CPU time and memory are not told: ${process.platform} has no /proc/<pid>/stat to read them from`;
    return { missing, cpu: async () => ({}), resident: async () => ({}) };
  }
  return {
    missing: null,
    cpu: async () => cpuOf(await allProcesses(), counted),
    async resident() {
      const processes = await allProcesses();
      const sums: Record<string, number> = {};
      for (const [name, one] of Object.entries(counted)) {
        const sizes = await Promise.all(membersOf(processes, one).map(residentOf));
        sums[name] = sizes.reduce((sum, size) => sum + size, 0);
      }
      return sums;
    },
  };
}
