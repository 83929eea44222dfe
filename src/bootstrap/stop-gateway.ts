import { setTimeout as pause } from 'node:timers/promises';
import type { Application } from '../application/application.js';
import type { RelayWorkers } from '../relay-process/workers/relay-workers.js';
import type { NodeStart } from './node-start.js';
import type { NodeLog } from './open-node-log.js';
import type { NodeCalls } from './open-relay-calls.js';
import type { Server } from './server.js';

interface StopParts {
  readonly application: Application;
  readonly server: Server;
  readonly workers: RelayWorkers | null;
  readonly eventLog: Pick<NodeLog, 'isFencedOff'>;
  readonly calls: NodeCalls;
}

/** Between two looks whether calls are still under way. */
const lookMs = 20;

/** Lets calls under way finish, within the bounds of the configuration, and closes everything. */
export async function stopGateway({ config, log, closing }: NodeStart, parts: StopParts): Promise<void> {
  const { application, server, workers, eventLog, calls } = parts;
  application.stop();
  server.app.server.close();
  calls.runtime.webSockets.finish();
  const deadline = Date.now() + config.server.shutdownGraceMs;
  let serving = workers !== null;
  void workers?.finish().then(() => {
    serving = false;
  });
  const pending = () => calls.meter.pending() + (workers?.pending() ?? 0);
  // Outcomes that the log will not take from this node are for its successor to write.
  const busy = () => serving || calls.runtime.relay.active() > 0 || (pending() > 0 && !eventLog.isFencedOff());
  while (busy() && Date.now() < deadline) await pause(lookMs);
  await closing.run(log);
}
