import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { answerParent } from './child.js';

/* Tallygate as it comes: `dist/main.js serve`, with its defaults but for what a part says. */

const root = new URL('../../', import.meta.url);

/** What `npm start` gives Node. */
function nodeFlags(): string[] {
  const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
    readonly scripts: { readonly start: string };
  };
  return scripts.start.split(' ').filter((word) => word.startsWith('--'));
}

/** A gateway is started at most once at a time. */
export type GatewayQuestion =
  | {
      readonly ask: 'start';
      readonly dataDir: string;
      /** Beside the data directory and any free port on loopback. */
      readonly environment: Readonly<Record<string, string>>;
    }
  | { readonly ask: 'stop' };

export interface GatewayAnswer {
  /** '' once it has stopped. */
  readonly url: string;
  readonly pid: number;
  /** From being started to the line that says it serves; 0 once it has stopped. */
  readonly readyMs: number;
}

/** A start may have to build read models from a long log. */
const startTimeoutMs = 3_600_000;
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

async function start(dataDir: string, environment: Readonly<Record<string, string>>): Promise<Running> {
  const { PATH, HOME, TMPDIR } = process.env;
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...nodeFlags(), fileURLToPath(new URL('dist/main.js', root)), 'serve'], {
    env: {
      PATH,
      HOME,
      TMPDIR,
      HOST: '127.0.0.1',
      PORT: '0',
      SETUP_CODE_REQUIRED: 'false',
      DATA_DIR: dataDir,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    // Ctrl-C must reach it through us, after the load has stopped.
    detached: true,
  });
  const ended = once(child, 'exit');
  // Only when this process has to go without having been asked to stop.
  const orphan = () => void child.kill('SIGKILL');
  process.once('exit', orphan);

  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    const patience = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
    await ended;
    clearTimeout(patience);
    process.off('exit', orphan);
  };

  try {
    const url = await readyUrl(child);
    return { url, pid: child.pid ?? 0, readyMs: performance.now() - startedAt, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

let running: Running | null = null;

answerParent<GatewayQuestion, GatewayAnswer>(async (question) => {
  switch (question.ask) {
    case 'start': {
      running = await start(question.dataDir, question.environment);
      const { url, pid, readyMs } = running;
      return { url, pid, readyMs };
    }
    case 'stop':
      await running?.stop();
      running = null;
      return { url: '', pid: 0, readyMs: 0 };
  }
});
