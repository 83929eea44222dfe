import { type MessagePort, parentPort } from 'node:worker_threads';
import { systemClock } from '../adapters/clock.js';
import { newClient, openPool } from '../adapters/database/postgres.js';
import { projecting } from '../adapters/database/session-limits.js';
import { openPostgresEventStore } from '../adapters/event-log/postgres-event-store.js';
import type { Log } from '../adapters/log.js';
import { postgresPersonalData } from '../adapters/vault/personal-data.js';
import { Closing } from '../process/closing.js';
import { nameSources } from '../process/stack-traces.js';
import { letCallsFirst } from '../process/thread-priorities.js';
import { startProjections } from '../projections/engine/runner.js';
import { serveRunner } from '../projections/engine/serve-runner.js';
import { readModels } from '../projections/read-models.js';
import type { FromThread, LogLevel, ThreadSetting, ToThread } from './thread-messages.js';

/*
 * The thread of the projectors: reads the log, folds it and writes the read models with connections of its own, so that
 * none of this takes time of the event loop that relays calls.
 */

/** What is logged here is written by the gateway's logger. */
function loggingTo(gateway: MessagePort): Log {
  const at =
    (level: LogLevel) =>
    (facts: object | string, message = ''): void => {
      const write = (fields: object, words: string): void =>
        gateway.postMessage({ kind: 'log', level, facts: fields, message: words } satisfies FromThread);
      try {
        if (typeof facts === 'string') write({}, facts);
        else write(facts, message);
      } catch {
        // An error that holds what cannot be sent is no reason to die.
        write({}, `${message} (${Object.values(facts).map(String).join(', ')})`);
      }
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

async function run(gateway: MessagePort, setting: ThreadSetting, runner: MessagePort): Promise<void> {
  const { connection, keys, lingerMs } = setting;
  const log = loggingTo(gateway);
  const masterKey = {
    derive(purpose: string): Buffer {
      const key = keys.get(purpose);
      if (key === undefined) throw new Error(`The projectors have no key for ${purpose}`);
      return Buffer.from(key);
    },
  };
  const closing = new Closing();
  await serveRunner(runner, async (parts) => {
    const pool = await openPool(connection, log, { size: 2, limits: projecting });
    closing.add(() => pool.end());
    const store = await openPostgresEventStore({ connection, log, listens: false });
    closing.add(() => store.close());
    return startProjections({
      projections: readModels,
      feed: store,
      pool,
      newClient: () => newClient(connection, projecting),
      context: { personalData: postgresPersonalData({ pool, masterKey, clock: systemClock }) },
      // That it projects is news on a node of several only.
      log: { info: log.debug, warn: log.warn, error: log.error },
      pace: { lingerMs },
      ...parts,
    });
  });
  await closing.run(log);
  runner.close();
  gateway.close();
}

nameSources();
letCallsFirst();
if (parentPort === null) throw new Error('This is a thread of the gateway, not a program');
const gateway = parentPort;
gateway.on('message', (message: ToThread) => {
  if (message.kind === 'begin') void run(gateway, message.setting, message.runner);
  else gateway.postMessage({ kind: 'alive' } satisfies FromThread);
});
