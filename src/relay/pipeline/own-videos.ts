import type { TaskView } from '../../application/ports/task-ports.js';
import type { Shown } from '../admission/authenticate.js';
import { orderIn, type VideoOrder } from '../contracts/video-object.js';
import { ownTasks } from './own-tasks.js';
import type { StagePorts } from './stage-ports.js';
import { videoNotFound } from './video-errors.js';

/* Videos beside their calls: looked at by whoever ordered them. Nobody pays. */

export interface OwnVideo {
  readonly task: TaskView;
  readonly order: VideoOrder;
}

const shownIn = (task: TaskView): OwnVideo[] => {
  const order = orderIn(task.content?.result);
  return order === null ? [] : [{ task, order }];
};

/** Throws RelayError. */
export async function ownVideo(ports: StagePorts, shown: Shown, id: string): Promise<OwnVideo> {
  const tasks = await ownTasks(ports, { ...shown, platform: 'video', ids: () => [id], bodySource: null });
  const [video] = tasks.flatMap(shownIn);
  if (video === undefined) throw videoNotFound(id);
  return video;
}
