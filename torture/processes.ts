import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

/* Which processes there are below another one, as Linux tells it. */

/** Who is killed may be about to start somebody. */
const maxRounds = 40;
const roundMs = 50;

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text.trim().split(' ').filter(Boolean).map(Number);
}

/** All processes below one, however deep. */
async function descendantsOf(pid: number): Promise<number[]> {
  const children = await childrenOf(pid);
  return [...children, ...(await Promise.all(children.map(descendantsOf))).flat()];
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

/** Nobody is left of what was started below a process, but for those that are spared. */
export async function endAllBelow(pid: number, spared: ReadonlySet<number> = new Set()): Promise<void> {
  for (let round = 0; round < maxRounds; round++) {
    const left = (await descendantsOf(pid)).filter((one) => !spared.has(one));
    if (left.length === 0) return;
    signalAll(left, 'SIGKILL');
    await pause(roundMs);
  }
}

/** In order, so that it gives back its shared memory; and anyhow where it does not end so. */
export async function endPostgres(postmaster: number): Promise<void> {
  signalAll(await postgresWithBackends(postmaster), 'SIGCONT');
  signalAll([postmaster], 'SIGINT');
  for (let round = 0; round < maxRounds; round++) {
    if ((await commandOf(postmaster)) === '') return;
    await pause(roundMs);
  }
  signalAll(await postgresWithBackends(postmaster), 'SIGKILL');
}

/** Whether a process is a Postgres on this data: its number may have been given to another one since. */
export const servesData = async (pid: number, dataDir: string): Promise<boolean> =>
  (await commandOf(pid)).includes(dataDir);

/** To each that is still there. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids)
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended meanwhile.
    }
}
