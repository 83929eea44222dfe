import { availableParallelism } from 'node:os';
import type { Logger } from 'pino';
import { givenEarlyStart } from '../bootstrap/early-start.js';
import type { Gateway } from '../bootstrap/gateway.js';
import { type Config, readWorkers } from '../config.js';
import { type CommandContext, optionsIn } from './command.js';
import { stopInTime } from './stop-in-time.js';
import { untilStopped } from './until-stopped.js';

/** `serve --workers 4`: runs the gateway until it is told to stop, or must; then the exit code is 1. */
export async function serve({ config, log, args }: CommandContext): Promise<void> {
  const given = optionsIn(args, { workers: { type: 'string' } });
  // Listened for from the beginning: asked to stop while it starts, it stops in order as soon as it has started.
  const stopped = untilStopped(log);
  const workers = workersIn(config, given.workers);
  const begun = await givenEarlyStart(config, log);
  const { startGateway } = await import('../bootstrap/gateway.js');
  const gateway = await startGateway(config, log, { workerCount: workers, begun });
  log.info({ url: gateway.url }, `Tallygate is ready at ${gateway.url}`);
  await logFirstRun(gateway, config, log);
  await Promise.race([stopped, gateway.failed]);
  await stopInTime(gateway, config, log);
}

/** Where nobody is root yet: how to become it. What cannot be asked now is shown when somebody opens the page. */
async function logFirstRun({ application: { setup } }: Gateway, { server }: Config, log: Logger): Promise<void> {
  const needsCode = await setup.needsCode().catch(() => true);
  if (needsCode || server.setupCodeRequired || (await setup.isDone().catch(() => true))) return;
  log.warn('SETUP_CODE_REQUIRED is false, and this gateway has not been set up: whoever reaches it first is its root');
}

/** Beyond it the one process that decides has enough to do. */
const maxUnasked = 8;
/** Fewer are full with one process that relays, the thread of the projectors, and Postgres. */
const minCoresToShare = 3;

function workersUnasked(): number {
  const cores = availableParallelism();
  return cores < minCoresToShare ? 1 : Math.min(cores, maxUnasked);
}

const workersIn = ({ server }: Config, given: string | undefined): number =>
  given === undefined ? (server.workers ?? workersUnasked()) : readWorkers(given);
