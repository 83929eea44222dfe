import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { answerParent } from './child.js';

/* Tallygate as it comes: `dist/main.js serve` with its defaults on a fresh data directory. */

/** `start` comes first, `stop` last, each once. */
export type GatewayQuestion = { readonly ask: 'start' } | { readonly ask: 'stop' };

export interface GatewayAnswer {
  /** '' once it has stopped. */
  readonly url: string;
}

const startTimeoutMs = 120_000;
const stopTimeoutMs = 60_000;

/** The URL in the line that says the gateway serves. */
async function readyUrl(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('the gateway has no stdout');
  const said: string[] = [];
  const lines = createInterface({ input: child.stdout });
  const url = new Promise<string>((resolve) => {
    // Read on to the end: a full pipe would stop the gateway.
    lines.on('line', (line) => {
      if (said.length < 50) said.push(line);
      const found = /https?:\/\/[\w.:[\]-]+:\d+/.exec(line);
      if (found) resolve(found[0]);
    });
  });
  const failed = once(child, 'exit', { signal: AbortSignal.timeout(startTimeoutMs) }).then(
    ([code]) => Promise.reject(new Error(`it ended with ${code}\n${said.join('\n')}`)),
    () => Promise.reject(new Error(`it did not start within ${startTimeoutMs} ms\n${said.join('\n')}`)),
  );
  return Promise.race([url, failed]);
}

interface Running extends GatewayAnswer {
  stop(): Promise<void>;
}

async function start(): Promise<Running> {
  const directory = await mkdtemp(join(tmpdir(), 'tallygate-bench-'));
  // Postgres refuses to run as root and runs as somebody who must be able to get here.
  await chmod(directory, 0o755);
  const { PATH, HOME, TMPDIR } = process.env;
  const child = spawn(process.execPath, [fileURLToPath(new URL('../dist/main.js', import.meta.url)), 'serve'], {
    env: { PATH, HOME, TMPDIR, HOST: '127.0.0.1', PORT: '0', DATA_DIR: join(directory, 'data') },
    stdio: ['ignore', 'pipe', 'inherit'],
    // Ctrl-C must reach it through us, after the load has stopped.
    detached: true,
  });
  const ended = once(child, 'exit');
  // Only when this process has to go without having been asked to stop.
  process.once('exit', () => child.kill('SIGKILL'));

  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    const patience = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
    await ended;
    clearTimeout(patience);
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  };

  try {
    return { url: await readyUrl(child), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

let running: Running | null = null;

answerParent<GatewayQuestion, GatewayAnswer>(async ({ ask }) => {
  switch (ask) {
    case 'start':
      running = await start();
      return { url: running.url };
    case 'stop':
      await running?.stop();
      return { url: '' };
  }
});
