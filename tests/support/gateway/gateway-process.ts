import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isBuilt } from './built.js';

/* The gateway as an operator runs it: a process of its own that can be killed, on data that outlives it. */

export interface GatewayProcess {
  readonly url: string;
  readonly pid: number;
  /** Every line it has logged. */
  readonly logged: readonly string[];
  /** SIGSTOP: it does nothing any more, as a machine that hangs, and its connections stay. */
  pause(): void;
  /** SIGCONT. */
  resume(): void;
  /** Resolves with its exit code, whenever it ends. */
  readonly ended: Promise<number | null>;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with its exit code. */
  stop(): Promise<number | null>;
}

const root = fileURLToPath(new URL('../../..', import.meta.url));

const fromSources: readonly string[] = ['--import', 'tsx', join(root, 'src/main.ts')];

/** What operators run, where it has been built of these sources, as `npm test` does: it starts in a third of the time. */
const usual: readonly string[] = isBuilt ? [join(root, 'dist/main.js')] : fromSources;

/**
 * `serve` with the data under `dataDir`, on any free port; `program`: what Node runs. Rejects when it ends before it is
 * ready.
 */
export async function startGatewayProcess(
  dataDir: string,
  variables: Readonly<Record<string, string>> = {},
  program = usual,
): Promise<GatewayProcess> {
  const child = spawn(process.execPath, [...program, 'serve'], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: dataDir, PORT: '0', WORKERS: '1', ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const logged: string[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      logged.push(line);
      const { url } = JSON.parse(line) as { url?: string };
      if (url !== undefined) resolve(url);
    });
    exited.then(([code]) => reject(new Error(`the gateway ended with code ${code}:\n${logged.join('\n')}`)), reject);
  });

  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> => {
    child.kill(signal);
    const [code] = await exited;
    return code;
  };
  return {
    url,
    pid: child.pid ?? Number.NaN,
    logged,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    ended: exited.then(([code]) => code),
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
  };
}

/** The process id of the Postgres whose lock file lies under the data directory; null without one. */
export async function postmasterOf(dataDir: string): Promise<number | null> {
  const text = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
  return Number(text.split('\n', 1)[0]) || null;
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
