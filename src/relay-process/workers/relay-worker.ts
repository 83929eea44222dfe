import { Socket } from 'node:net';
import { allocateYoung } from '../../process/allocation.js';
import { nameSources } from '../../process/stack-traces.js';
import { letHelpersWait } from '../../process/thread-priorities.js';
import type { PrimaryMethods, WorkerMethods } from './messages.js';
import { Peer } from './peer.js';
import { pipeAt } from './pipe-at.js';
import { type ServingCalls, serveCalls } from './serving-calls.js';

/* A process that serves calls: it does what the primary of its node asks, and ends with it. */

nameSources();
allocateYoung();
letHelpersWait();

let serving: ServingCalls | null = null;

const begun = (): ServingCalls => {
  if (serving === null) throw new Error('This worker was not started by its primary');
  return serving;
};

const methods: WorkerMethods = {
  begin(setting, directory) {
    serving = serveCalls(primary, setting, directory);
    return serving.port;
  },
  news: (events) => begun().news(events),
  spent: (apiKey) => begun().spent(apiKey),
  alive: () => true,
  refuse: () => begun().refuse(),
  finish: () => begun().finish(),
};

const primary = new Peer<PrimaryMethods>(new Socket({ fd: pipeAt }), methods, (error) => {
  throw error;
});

// The signal to stop goes to the primary, and that lets its workers go.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
await primary.closed;
process.exit();
