import { Semaphore } from '../../concurrency/semaphore.js';
import type { ChannelId, TaskId } from '../../domain/kernel/ids.js';
import type { OpenTask, OpenTasks, TaskSource } from '../ports/task-poll-ports.js';

/* Looks of callers at their tasks: many of them are one question, and no channel gets more than two at a time. */

interface TaskLooksPorts {
  readonly find: OpenTasks['find'];
  /** Whether its upstream may be asked now. */
  readonly mayAsk: (source: TaskSource) => boolean;
  readonly ask: (source: TaskSource, tasks: readonly OpenTask[]) => Promise<void>;
  readonly failed: (error: unknown, taskId: TaskId) => void;
  /** Milliseconds that never go back. */
  readonly uptimeMs: () => number;
}

/** Between two looks at one task. */
const lookPauseMs = 2_000;
/** Who looks waits no longer for it; it goes on by itself. */
const lookPatienceMs = 3_000;
/** Looks that come within this ask together. */
const gatherMs = 10;
/** Of one channel: a slow one leaves places to the others. */
const looksOfChannel = 2;

export const sourceKey = ({ channelId, platform }: TaskSource): string => `${channelId} ${platform}`;

interface Look {
  readonly at: number;
  readonly done: Promise<void>;
  isOver: boolean;
}

export class TaskLooks {
  /** When tasks were last looked at by their callers, and what is under way of it. */
  private readonly looked = new Map<TaskId, Look>();
  private readonly gathered = new Map<string, { readonly tasks: OpenTask[]; readonly asked: Promise<void> }>();
  private readonly channels = new Map<ChannelId, { readonly places: Semaphore; users: number }>();

  constructor(private readonly ports: TaskLooksPorts) {}

  /** See Tasks. */
  async look(taskId: TaskId): Promise<void> {
    let last = this.looked.get(taskId);
    if (last === undefined || (last.isOver && this.ports.uptimeMs() - last.at >= lookPauseMs)) {
      last = this.begun(taskId);
      this.looked.set(taskId, last);
    }
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, lookPatienceMs).unref();
    });
    await Promise.race([last.done, patience]);
    clearTimeout(timer);
  }

  /** Forgets all but these, and what is under way. */
  keep(open: ReadonlySet<TaskId>): void {
    for (const [taskId, { isOver }] of this.looked) if (isOver && !open.has(taskId)) this.looked.delete(taskId);
  }

  /** Resolves when all that has begun is done. */
  async settled(): Promise<void> {
    await Promise.all([...this.looked.values()].map(({ done }) => done));
  }

  private begun(taskId: TaskId): Look {
    const look: Look = {
      at: this.ports.uptimeMs(),
      done: this.lookNow(taskId).finally(() => {
        look.isOver = true;
      }),
      isOver: false,
    };
    return look;
  }

  private async lookNow(taskId: TaskId): Promise<void> {
    const { find, mayAsk, failed } = this.ports;
    try {
      const task = await find(taskId);
      if (task !== null && mayAsk(task)) await this.gather(task);
    } catch (error) {
      failed(error, taskId);
    }
  }

  /** Callers who wait for several tasks of a channel ask once; so do those who wait for a place of it. */
  private gather(task: OpenTask): Promise<void> {
    const { channelId, platform } = task;
    const key = sourceKey(task);
    const gathering = this.gathered.get(key);
    if (gathering !== undefined) {
      gathering.tasks.push(task);
      return gathering.asked;
    }
    const tasks = [task];
    const gatheredAll = new Promise((resolve) => setTimeout(resolve, gatherMs));
    const asked = gatheredAll.then(() =>
      this.inPlaceOf(channelId, async () => {
        this.gathered.delete(key);
        await this.ports.ask({ channelId, platform }, tasks);
      }),
    );
    this.gathered.set(key, { tasks, asked });
    return asked;
  }

  private async inPlaceOf(channelId: ChannelId, work: () => Promise<void>): Promise<void> {
    let channel = this.channels.get(channelId);
    if (channel === undefined) {
      channel = { places: new Semaphore(looksOfChannel), users: 0 };
      this.channels.set(channelId, channel);
    }
    channel.users += 1;
    try {
      await channel.places.take(work);
    } finally {
      channel.users -= 1;
      if (channel.users === 0) this.channels.delete(channelId);
    }
  }
}
