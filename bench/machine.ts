import { execFile } from 'node:child_process';
import { cpus, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

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
