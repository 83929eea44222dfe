import type { TaskView } from '../../../application/ports/task-ports.js';
import { isKeptId } from '../../../domain/call/kept-object.js';
import type { TaskPlatform } from '../../../domain/task/task.js';
import { authenticateOwner, type Shown } from '../../admission/authenticate.js';
import { brokenOff, noRoomHere } from '../../answers/lost-answer.js';
import { fromUpstream, RelayError, saturatedHere } from '../../contracts/errors.js';
import { undoubled } from '../../protocols/model-address.js';
import { noContent } from '../../upstream/request-content.js';
import { Lost, NoRoomForAnswer } from '../../upstream/upstream-response.js';
import { unreached } from '../attempt-failure.js';
import { authorisedRequest } from '../authorised-request.js';
import { type Keeper, keeperOf } from '../kept/resource-request.js';
import type { StagePorts } from '../stage-ports.js';

/* A question about a task that its upstream alone can answer, asked for the task's owner. Nobody pays. */

export interface TaskQuestion extends Shown {
  readonly platform: TaskPlatform;
  /** As the caller names the task. */
  readonly id: string;
  /** Where it is asked, below the channel's address. */
  readonly path: (task: TaskView) => string;
}

export interface TaskReply {
  readonly status: number;
  readonly body: Buffer;
  readonly keeper: Keeper;
}

const patienceMs = 30_000;
const maxBytes = 64 * 1024;

/** Throws RelayError. */
export async function askAboutTask(ports: StagePorts, asked: TaskQuestion): Promise<TaskReply> {
  const { directory, limits, tasks } = ports;
  const { platform, id } = asked;
  const { user, apiKey } = await authenticateOwner(ports, asked);
  const leave = await limits.admit(user.id, apiKey.id, directory.settings());
  let succeeded = false;
  try {
    const [task] = tasks !== undefined && isKeptId(id) ? await tasks.ofUser(user.id, [id], platform) : [];
    if (task === undefined) throw new RelayError(400, 'task_not_exist', 'task_not_exist', { param: 'id' });
    const reply = await askChannel(ports, task, asked.path(task));
    succeeded = true;
    return reply;
  } finally {
    leave(succeeded);
  }
}

async function askChannel(ports: StagePorts, task: TaskView, path: string): Promise<TaskReply> {
  const { channelId, platform, userId, upstreamId, action, model } = task.facts;
  const keeper = await keeperOf(ports, channelId, { mode: 'task' });
  const wire = keeper.provider.tasks;
  const leaveChannel = await ports.limits.enterChannel(channelId, keeper.parsed.maxCalls);
  if (leaveChannel === null) throw saturatedHere();
  const slot = ports.answers.newSlot(userId);
  try {
    if (wire === undefined || wire.platform !== platform)
      throw new RelayError(400, 'channel_not_found', 'the channel of the task takes no such tasks any more');
    const baseUrl = keeper.channel.baseUrl || keeper.provider.defaultBaseUrl;
    // What shows whose channel it is stands in every request about tasks.
    const poll = wire.poll(keeper.channel, [{ upstreamId, action, model }]);
    const url = undoubled(baseUrl, baseUrl + path);
    const request = await authorisedRequest(ports, keeper, { ...poll, method: 'GET', url, content: noContent });
    const waits = { proxy: keeper.channel.proxy, timeoutMs: patienceMs, idleMs: patienceMs, payer: userId };
    const sending = ports.upstream.send(request, waits);
    try {
      const sent = await sending.sent;
      if (!sent.ok) throw unreached(sent).error;
      const { status, body } = sent.answer;
      return { status, body: await body.whole(maxBytes, slot), keeper };
    } finally {
      sending.cancel();
    }
  } catch (error) {
    if (error instanceof NoRoomForAnswer) throw fromUpstream(noRoomHere(error.why), 503);
    if (error instanceof Lost) throw fromUpstream(brokenOff('read_response_body_failed'), 500);
    throw error;
  } finally {
    slot.leave();
    leaveChannel();
  }
}
