import type { Pool } from 'pg';
import { postgresTaskStore } from '../adapters/task-store.js';
import type { TaskUpstreams } from '../application/ports/task-poll-ports.js';
import type { Tasks } from '../application/ports/task-ports.js';
import { TaskPoller } from '../application/reactions/task-poller.js';
import { knownTasks } from '../application/tasks/open-tasks.js';
import { pollableTasks } from '../application/tasks/pollable-tasks.js';
import type { NodeStart } from './node-start.js';

type KnownTaskPorts = Omit<Parameters<typeof knownTasks>[0], 'tasks'>;

interface OpenTasksParts extends KnownTaskPorts {
  readonly pool: Pool;
  /** Opened after this, with what calls are served by. */
  readonly upstreams: () => TaskUpstreams;
}

/** Tasks of this node, and who asks upstreams about them. */
export function openNodeTasks({ config, log }: NodeStart, { pool, upstreams, ...ports }: OpenTasksParts) {
  const taskStore = postgresTaskStore(pool);
  const known = knownTasks({ ...ports, tasks: taskStore });
  const taskPoller = new TaskPoller({
    open: pollableTasks(known),
    upstreams: {
      terms: (...asked) => upstreams().terms(...asked),
      ask: (...asked) => upstreams().ask(...asked),
    },
    observe: known.observe,
    ...{ clock: ports.clock, log, uptimeMs: () => performance.now(), everyMs: config.taskPollMs },
  });
  const tasks: Tasks = { ...known, look: (taskId) => taskPoller.look(taskId) };
  return { taskStore, taskPoller, tasks };
}
