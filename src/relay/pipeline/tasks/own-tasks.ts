import type { TaskView } from '../../../application/ports/task-ports.js';
import { isKeptId } from '../../../domain/call/kept-object.js';
import type { UserId } from '../../../domain/kernel/ids.js';
import { isTerminal, type TaskPlatform } from '../../../domain/task/task.js';
import { authenticateOwner, type Shown } from '../../admission/authenticate.js';
import type { BodySource } from '../../contracts/ports.js';
import type { JsonObject } from '../../json/json.js';
import type { StagePorts } from '../stage-ports.js';

/* Tasks, looked at by whoever submitted them. Nobody pays; who has spent all that they had still gets what they paid for. */

export interface OwnTasksRequest extends Shown {
  readonly platform: TaskPlatform;
  /** The ids that are asked for, as their caller names them. Throws RelayError. */
  readonly ids: (body: JsonObject) => readonly string[];
  /** null: nothing is sent along. */
  readonly bodySource: BodySource | null;
}

/** A body that names tasks is short. */
const maxBodyBytes = 64 * 1024;

type OwnTasksPorts = Pick<
  StagePorts,
  'directory' | 'gate' | 'vault' | 'clock' | 'wrongKeys' | 'apiKeyStatus' | 'bodies' | 'tasks' | 'limits'
>;

/**
 * Those of the ids that are the caller's, in the order asked. Their upstreams are asked first, for a moment, about those
 * that are at no end. A request that names several counts in the limits of calls. Throws RelayError.
 */
export async function ownTasks(ports: OwnTasksPorts, asked: OwnTasksRequest): Promise<readonly TaskView[]> {
  const { directory, limits } = ports;
  const { bodySource } = asked;
  const { user, apiKey } = await authenticateOwner(ports, asked);
  if (bodySource === null) return foundTasks(ports, user.id, asked.platform, asked.ids({}));
  const leave = await limits.admit(user.id, apiKey.id, directory.settings());
  let succeeded = false;
  try {
    const found = await foundTasks(ports, user.id, asked.platform, await idsOf(ports, user.id, asked, bodySource));
    succeeded = true;
    return found;
  } finally {
    leave(succeeded);
  }
}

async function idsOf(
  { bodies }: Pick<OwnTasksPorts, 'bodies'>,
  user: UserId,
  { ids, ip }: OwnTasksRequest,
  bodySource: BodySource,
): Promise<readonly string[]> {
  const body = await bodies.json(bodySource, ip, user, maxBodyBytes);
  try {
    return ids(body.value);
  } finally {
    body.leave();
  }
}

async function foundTasks(
  { tasks }: Pick<OwnTasksPorts, 'tasks'>,
  user: UserId,
  platform: TaskPlatform,
  named: readonly string[],
): Promise<readonly TaskView[]> {
  const ids = [...new Set(named.filter(isKeptId))];
  if (ids.length === 0) return [];
  const seen = await tasks.ofUser(user, ids, platform);
  const open = seen.filter(({ status }) => !isTerminal(status));
  if (open.length === 0) return inOrder(ids, seen);
  await Promise.all(open.map(({ facts }) => tasks.look(facts.taskId)));
  return inOrder(ids, await tasks.ofUser(user, ids, platform));
}

function inOrder(ids: readonly string[], tasks: readonly TaskView[]): readonly TaskView[] {
  const byId = new Map(tasks.map((task) => [task.facts.publicId, task]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}
