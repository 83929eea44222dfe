import { Args, ArgsType, Authorized, Field, Resolver, Root, Subscription } from 'type-graphql';
import type { TaskView } from '../../application/ports/task-ports.js';
import { WakeUpSignal } from '../../concurrency/wake-up-signal.js';
import type { TaskId } from '../../domain/kernel/ids.js';
import { behindPauseMs, pause, stoppable } from '../live/live.js';
import type { SubscriptionContext, SubscriptionData } from '../live/subscription-data.js';
import { signedIn } from '../server/context.js';
import { maxPageSize } from '../server/page.js';
import { TaskObject } from './task.js';

/** Between two readings: what changes meanwhile is read together, as it is then. */
const minPauseMs = 250;
/** Tasks that wait for a slow reader; of more, those that changed first are not sent. */
const maxWaiting = 500;

@ArgsType()
class TaskProgressArgs {
  @Field(() => Boolean, { defaultValue: false, description: "Everybody's, not only one's own; for administrators." })
  readonly everyone!: boolean;
}

@Resolver()
export class TaskProgressResolver {
  @Authorized()
  @Subscription(() => TaskObject, {
    description: 'Tasks as they are submitted, progress and end, each as it is by then.',
    subscribe: ({ args, context }: SubscriptionData<TaskProgressArgs>) => openProgress(context, !args.everyone),
  })
  taskProgress(@Root() task: TaskView, @Args(() => TaskProgressArgs) _args: TaskProgressArgs): TaskView {
    return task;
  }
}

async function openProgress(context: SubscriptionContext, own: boolean): Promise<AsyncIterable<TaskView>> {
  context.application.queries.mayAskTasks(await signedIn(context.caller), {}, own);
  return stoppable((signal) => changedTasks(context, own, signal));
}

async function* changedTasks(
  { application, caller, tasks }: SubscriptionContext,
  own: boolean,
  signal: AbortSignal,
): AsyncGenerator<TaskView, void, undefined> {
  const { id } = await signedIn(caller);
  const waiting = new Set<TaskId>();
  const changed = new WakeUpSignal();
  let newest = application.tail.position();
  const forget = tasks.add(own ? id : null, (task, position) => {
    newest = position;
    // At the end again: the one that has waited longest comes first.
    waiting.delete(task);
    waiting.add(task);
    const [oldest] = waiting;
    if (waiting.size > maxWaiting && oldest !== undefined) waiting.delete(oldest);
    changed.ring();
  });
  try {
    while (await changed.received(signal)) {
      const whole = await application.visible(newest);
      const next = [...waiting].slice(0, maxPageSize);
      for (const task of next) waiting.delete(task);
      yield* await application.queries.tasksOf(await signedIn(caller), next, own);
      // Of a list that is behind they are sent as they are, and once more.
      if (!whole) for (const task of next) waiting.add(task);
      if (waiting.size > 0) changed.ring();
      if (!(await pause(whole ? minPauseMs : behindPauseMs, signal))) return;
    }
  } finally {
    forget();
  }
}
