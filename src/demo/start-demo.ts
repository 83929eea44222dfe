import type { Logger } from 'pino';
import { type Gateway, startGateway } from '../bootstrap/gateway.js';
import type { Config } from '../config.js';
import { DemoClock } from './demo-clock.js';
import { startGrants } from './grants.js';
import { pastBegins, pastDays, writePast } from './past/write-past.js';
import { type Seeded, seedDemo } from './seed.js';
import { type SimulatedProvider, startSimulatedProvider } from './simulated-provider.js';
import { type SimulatedTaskServer, startSimulatedTasks } from './simulated-tasks.js';
import { startTaskTraffic } from './task-traffic.js';
import { startTraffic } from './traffic.js';
import { startUnrest } from './unrest.js';

/* A gateway with a past, a simulated provider, a simulated server of tasks, and callers. */

export interface Demo {
  readonly gateway: Gateway;
  readonly provider: SimulatedProvider;
  /** Where drawings, songs and videos are made. */
  readonly taskServer: SimulatedTaskServer;
  readonly seeded: Seeded;
  /** Of the root user. */
  readonly password: string;
  /** Begins the calls, and what goes wrong with them. The result ends both. */
  begin(): () => Promise<void>;
}

/**
 * Starts it on the data that `config` names; the password is asked for once that is there. Where nothing has been set up
 * yet there is a past before it is ready, and only there: a past is written once.
 */
export async function startDemo(config: Config, log: Logger, rootPassword: () => Promise<string>): Promise<Demo> {
  const [provider, taskServer] = await Promise.all([startSimulatedProvider(), startSimulatedTasks()]);
  try {
    const clock = new DemoClock();
    const gateway = await startGateway(config, log, { clock });
    try {
      const { application: app, store } = gateway;
      const isNew = !(await app.setup.isDone());
      if (isNew) clock.standAt(pastBegins(Date.now()));
      const password = await rootPassword();
      const seeded = await seedDemo(app, {
        providerUrl: provider.url,
        tasksUrl: taskServer.url,
        rootPassword: password,
      });
      if (isNew) {
        log.info(`The demo is given a past of ${pastDays} days first; this takes a moment`);
        await writePast({ app, store, clock, seeded });
      }
      return {
        ...{ gateway, provider, taskServer, seeded, password },
        begin() {
          const traffic = startTraffic({ url: gateway.url, people: seeded.people, log });
          const endTasks = startTaskTraffic({ url: gateway.url, people: seeded.people, log });
          const endUnrest = startUnrest({ provider, app });
          const endGrants = startGrants({ app, seeded, log });
          return async () => {
            await endGrants();
            await endUnrest();
            await endTasks();
            await traffic.stop();
          };
        },
      };
    } catch (error) {
      await gateway.stop();
      throw error;
    }
  } catch (error) {
    await Promise.all([provider.stop(), taskServer.stop()]);
    throw error;
  }
}
