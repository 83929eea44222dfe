import type { ChannelView, Directory } from '../../../application/ports/storage-ports.js';
import type { TaskView } from '../../../application/ports/task-ports.js';
import { isKeptId } from '../../../domain/call/kept-object.js';
import type { UserId } from '../../../domain/kernel/ids.js';
import type { Endpoint } from '../../contracts/endpoint.js';
import { RelayError, shortened } from '../../contracts/errors.js';
import type { RelayPorts } from '../../contracts/ports.js';
import type { JsonObject } from '../../json/json.js';

/*
 * A task that goes on from an earlier one goes to the channel that has that, and to no other. Ids are their user's alone:
 * another user's is refused in the same words as one that nobody has.
 */

type ParentPorts = Pick<RelayPorts, 'directory' | 'tasks'>;

const refusal = (code: string, message: string, param: string | null): RelayError =>
  new RelayError(400, code, message, { type: 'invalid_request_error', param });

/** null: the body goes on from no task. Throws RelayError. */
export async function parentTaskOf(
  { directory, tasks }: ParentPorts,
  user: UserId,
  { task }: Pick<Endpoint, 'task'>,
  body: JsonObject,
): Promise<TaskView | null> {
  if (task === undefined) return null;
  const named = task.parent?.(body) ?? null;
  if (named === null) return null;
  const { id, param } = named;
  const [parent] = isKeptId(id) ? await tasks.ofUser(user, [id], task.platform) : [];
  if (parent === undefined) throw refusal('task_not_exist', 'task_not_exist', param);
  const refused = task.notFrom?.(parent, body, directory.settings()) ?? null;
  if (refused !== null) throw refused;
  return parent;
}

/** The one channel that may serve it. Throws RelayError. */
export function channelOfParent(
  directory: Pick<Directory, 'channel'>,
  { facts: { channelId } }: Pick<TaskView, 'facts'>,
  model: string,
): ChannelView {
  const channel = directory.channel(channelId);
  if (channel === null) throw refusal('channel_not_found', 'the channel of the earlier task is gone', null);
  if (channel.status !== 'enabled')
    throw refusal('task_channel_disable', 'the channel of the earlier task is disabled', null);
  if (channel.settings.models.includes(model)) return channel;
  throw refusal('channel_not_found', `the channel of the earlier task does not serve model ${shortened(model)}`, null);
}
