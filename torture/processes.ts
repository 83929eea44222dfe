import { readFile } from 'node:fs/promises';

/* Which processes there are below another one, as Linux tells it. */

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text.trim().split(' ').filter(Boolean).map(Number);
}

const commandOf = async (pid: number): Promise<string> =>
  (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ');

/** The processes of a gateway that relay calls beside the first one. */
export async function workersOf(gateway: number): Promise<number[]> {
  const children = await childrenOf(gateway);
  const commands = await Promise.all(children.map(commandOf));
  return children.filter((_, index) => /\bworker\.(js|ts)|relay-worker/.test(commands[index] ?? ''));
}

/** A Postgres with all its backends. */
export const postgresWithBackends = async (postmaster: number): Promise<number[]> => [
  postmaster,
  ...(await childrenOf(postmaster)),
];

/** To each that is still there. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids)
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended meanwhile.
    }
}
