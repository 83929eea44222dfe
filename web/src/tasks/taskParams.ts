import type { TaskRowFragment } from '../generated/tasks/tasks.js';

/* Which tasks are looked at, as it stands in the address. */

export const taskDefaults = {
  /** Unix seconds; 0: where the page begins by itself. */
  from: 0,
  /** Unix seconds; 0: open. */
  to: 0,
  task: '',
  channel: '',
};
export type TaskParams = Readonly<typeof taskDefaults>;

/** Which list: drawings of Midjourney, or music and videos. */
export type TaskList = 'drawing' | 'task';

/** Unix seconds, both inclusive. `to` null: no end, so that what is submitted from now on belongs to it. */
export interface TaskRange {
  readonly from: number;
  readonly to: number | null;
  /** What is shown as its end: without one, an hour ahead, so that clocks that differ hide nothing. */
  readonly shownEnd: number;
}

/** Whose tasks a list has. */
export const platformsOf: Readonly<Record<TaskList, TaskRowFragment['platform'][]>> = {
  drawing: ['MIDJOURNEY'],
  task: ['SUNO', 'VIDEO'],
};

interface TaskFilter {
  readonly platforms: TaskRowFragment['platform'][];
  readonly from: number;
  readonly to?: number;
  readonly publicId?: string;
  readonly channelId?: string;
}

const seconds = (moment: Date): number => Math.floor(moment.getTime() / 1000);
const daysOfDrawings = 30;

/** Drawings of the last thirty days; of everything else, what was submitted today. */
const beginning = (list: TaskList, now: Date): number =>
  list === 'drawing'
    ? seconds(now) - daysOfDrawings * 24 * 3600
    : seconds(new Date(now.getFullYear(), now.getMonth(), now.getDate()));

export const taskRangeOf = ({ from, to }: TaskParams, list: TaskList, now: Date): TaskRange => ({
  from: from > 0 ? from : beginning(list, now),
  to: to > 0 ? to : null,
  shownEnd: to > 0 ? to : seconds(now) + 3600,
});

/** How many filters differ from what the page begins with. */
export const activeTaskFilters = (params: TaskParams): number =>
  (['from', 'to', 'task', 'channel'] as const).filter((name) => params[name] !== taskDefaults[name]).length;

/** Only what filters is named: equal filters are equal to the cache. Spaces around what was typed say nothing. */
export function taskFilterOf(
  params: TaskParams,
  { from, to }: Pick<TaskRange, 'from' | 'to'>,
  list: TaskList,
  admin: boolean,
): TaskFilter {
  const [task, channel] = [params.task.trim(), params.channel.trim()];
  return {
    platforms: platformsOf[list],
    from,
    ...(to !== null && { to }),
    ...(task && { publicId: task }),
    // A number is all a channel can be asked by; anything else would be refused.
    ...(admin && /^\d+$/.test(channel) && { channelId: channel }),
  };
}
