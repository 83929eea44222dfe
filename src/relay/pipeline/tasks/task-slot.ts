import { CallId } from '../../../domain/kernel/ids.js';
import { RelayError } from '../../contracts/errors.js';
import type { CallContext, NamedCall } from '../call-context.js';
import type { StagePorts } from '../stage-ports.js';

/* How many tasks a user may have open: upstreams are asked about each of them again and again. */

type SlotPorts = Pick<StagePorts, 'tasks' | 'directory'>;

/** For a call that may submit a task. Whoever gets it gives it back with `releaseTaskSlot`. Throws RelayError. */
export async function takeTaskSlot(
  { tasks, directory }: SlotPorts,
  { incoming, user }: Pick<NamedCall, 'incoming' | 'user'>,
): Promise<void> {
  const limit = directory.settings().openTasksPerUser;
  if (incoming.endpoint.task === undefined || limit === 0) return;
  if (await tasks.takeSlot(CallId(incoming.requestId), user.id, limit)) return;
  throw new RelayError(
    429,
    'too_many_open_tasks',
    `a user may have ${limit} open tasks; try again when one of yours has ended`,
    { retryAfter: '30' },
  );
}

/** Of a call whose task is not written down. */
export function releaseTaskSlot(
  { tasks }: Pick<SlotPorts, 'tasks'>,
  { incoming }: Pick<CallContext, 'incoming'>,
): void {
  if (incoming.endpoint.task !== undefined) tasks.releaseSlot(CallId(incoming.requestId));
}
