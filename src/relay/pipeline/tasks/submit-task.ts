import type { NewTask } from '../../../application/ports/task-ports.js';
import { isUnavailable } from '../../../domain/kernel/failure.js';
import { CallId } from '../../../domain/kernel/ids.js';
import { storeUnavailable } from '../../contracts/errors.js';
import type { AcceptedTask } from '../../contracts/task-wire.js';
import { type AnsweredCall, extended } from '../call-context.js';
import type { StagePorts } from '../stage-ports.js';

/* A task that its upstream has taken stands in the log before its call is settled, and before its caller knows of it. */

function newTask(call: AnsweredCall, task: AcceptedTask): NewTask {
  const { incoming, user, apiKey, course, resolution } = call;
  const channelId = course.tried.at(-1);
  const { endpoint, group, model, parent } = resolution;
  if (channelId === undefined || endpoint.task === undefined) throw new Error('a task of no channel or endpoint');
  return {
    ...task,
    userId: user.id,
    apiKeyId: apiKey?.id ?? null,
    apiKeyName: apiKey?.terms.name ?? `playground-${group}`,
    ...{ group, model, channelId },
    callId: CallId(incoming.requestId),
    platform: endpoint.task.platform,
    parent: parent?.facts.taskId ?? null,
  };
}

const maybeTaken =
  'the upstream has taken the task, but it could not be written down now; look among your tasks before you ask again';

/**
 * The same call, with its task once that is durable; a call of another kind stays as it is. Where it rejects nobody knows
 * whether it is: the call is left to recovery, which settles it if the task stands.
 */
export async function submitTask({ tasks }: Pick<StagePorts, 'tasks'>, call: AnsweredCall): Promise<AnsweredCall> {
  const { got } = call.answer;
  const accepted = got.kind === 'answer' ? got.generated.task : undefined;
  if (accepted === undefined) return call;
  const task = newTask(call, accepted);
  const id = await tasks.submitted(task).catch((error: unknown) => {
    throw isUnavailable(error) ? storeUnavailable(maybeTaken) : error;
  });
  const { platform, action, upstreamId, publicId = upstreamId } = task;
  return extended(call, { task: { id, platform, action, publicId } });
}
