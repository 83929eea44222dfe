import { MessageChannel } from 'node:worker_threads';
import { RemoteRunner } from '../../src/projections/engine/remote-runner.js';
import { type ProjectionRunner, type RunnerOptions, startProjections } from '../../src/projections/engine/runner.js';
import { serveRunner } from '../../src/projections/engine/serve-runner.js';

/** A runner that is spoken to by messages alone, as with one in another thread. */
export async function startBehindChannel({ news, ...options }: RunnerOptions): Promise<ProjectionRunner> {
  const { port1, port2 } = new MessageChannel();
  const remote = new RemoteRunner(news);
  const served = serveRunner(port2, (parts) => startProjections({ ...options, ...parts })).finally(() => port1.close());
  const stop = async (): Promise<void> => {
    await remote.stop();
    await served;
  };
  try {
    await remote.connect(port1);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    reached: (position, timeoutMs, names) => remote.reached(position, timeoutMs, names),
    passed: (name, position, timeoutMs) => remote.passed(name, position, timeoutMs),
    caughtUp: () => remote.caughtUp(),
    status: () => remote.status(),
    stop,
  };
}
