import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { asScript, buildIfNeeded, buildWebIfNeeded, checkMachine, NotReady, root } from './build.mjs';

/*
 * npm start, npm run demo and the like: builds what is not built, then runs the command in this very process, so that
 * signals, exit codes and kill -9 meet the gateway and not something around it.
 */

const parentCheckMs = 500;

/** Name and parent of a process; null where the system does not say in a file. */
function processInfo(pid) {
  try {
    const [, name, parent] = /\((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return { name, parent };
  } catch {
    return null;
  }
}

/** npm passes signals on, but not when it is killed outright; the gateway must not live on without it. */
function stopWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const shell = processInfo(parent);
  // npm starts scripts through a shell. Some shells step aside for the command, others stay between npm and us.
  const above = /^(ba|da|z|k)?sh$/.test(shell?.name ?? '') ? shell.parent : null;
  const check = setInterval(() => {
    if (process.ppid === parent && (above === null || processInfo(parent)?.parent === above)) return;
    clearInterval(check);
    process.kill(process.pid, 'SIGTERM');
  }, parentCheckMs);
  check.unref();
}

const servingCommands = ['serve', 'demo'];
const tools = ['bench', 'fuzz', 'torture'];

/** A console that cannot be built is no reason to turn calls away: the gateway runs without, and says so at `/`. */
function buildConsole() {
  try {
    buildWebIfNeeded();
  } catch (error) {
    if (!(error instanceof NotReady)) throw error;
    process.stderr.write(`${error.message}\n`);
  }
}

/** A tool that is run from its sources. */
async function runTool(name, args) {
  const { register } = await import('tsx/esm/api');
  register();
  const entry = join(root, name, 'main.ts');
  process.argv = [process.execPath, entry, ...args];
  await import(pathToFileURL(entry).href);
}

async function runGateway(command, args) {
  const entry = join(root, 'dist/main.js');
  process.argv = [process.execPath, entry, command, ...args];
  await import(pathToFileURL(entry).href);
}

await asScript(async () => {
  const [command = 'serve', ...args] = process.argv.slice(2);
  checkMachine();
  await buildIfNeeded();
  if (servingCommands.includes(command)) buildConsole();
  const settings = join(root, '.env');
  if (existsSync(settings)) process.loadEnvFile(settings);
  stopWithNpm();
  await (tools.includes(command) ? runTool(command, args) : runGateway(command, args));
});
