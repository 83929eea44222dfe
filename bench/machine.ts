import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { cpus, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rounded } from './figures.js';

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly system: string;
  readonly node: string;
}

export const machine = (): Machine => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  system: `${process.platform} ${process.arch} ${release()}`,
  node: process.versions.node,
});

/** What all cores together have done so far, in the ticks of /proc/stat. */
export interface CoreTimes {
  readonly all: number;
  /** A virtual machine's: wanted while the host ran something else. */
  readonly stolen: number;
}

/** By the text of /proc/stat; null: it does not say. */
export function parseCoreTimes(stat: string): CoreTimes | null {
  // user nice system idle iowait irq softirq steal; guests' times, which follow, are in user and nice as well.
  const fields = /^cpu +(.*)$/m.exec(stat)?.[1]?.split(' ').slice(0, 8).map(Number) ?? [];
  if (fields.length < 8 || !fields.every(Number.isSafeInteger)) return null;
  return { all: fields.reduce((sum, ticks) => sum + ticks, 0), stolen: fields[7] ?? 0 };
}

/** null where the system does not say. */
export const coreTimes = async (): Promise<CoreTimes | null> =>
  parseCoreTimes(await readFile('/proc/stat', 'utf8').catch(() => ''));

/** Of the cores' time between two readings, what the host took for others, from 0 to 1, to a thousandth; null where it is not told. */
export function stolenShare(before: CoreTimes | null, after: CoreTimes | null): number | null {
  if (before === null || after === null || after.all <= before.all) return null;
  return rounded((after.stolen - before.stolen) / (after.all - before.all), 3);
}

/** Of the checkout, `+` after it when files differ from it; null outside one. */
export async function revision(): Promise<string | null> {
  const git = async (...args: string[]): Promise<string> => {
    const cwd = fileURLToPath(new URL('..', import.meta.url));
    return (await promisify(execFile)('git', args, { cwd })).stdout.trim();
  };
  try {
    const commit = await git('rev-parse', '--short=12', 'HEAD');
    return (await git('status', '--porcelain')) === '' ? commit : `${commit}+`;
  } catch {
    return null;
  }
}
