import type { Application } from '../../application/application.js';
import type { Position } from '../../domain/events/events.js';
import type { TaskId, UserId } from '../../domain/kernel/ids.js';

/* One consumer of the tail for all who watch tasks: what an event costs does not grow with the consoles open. */

type Changed = (task: TaskId, position: Position) => void;

export interface TaskWatch {
  /** `user`: whose tasks; null: everybody's. The result ends it. */
  add(user: UserId | null, changed: Changed): () => void;
  stop(): void;
}

export function watchTasks({ tail, queries }: Pick<Application, 'tail' | 'queries'>): TaskWatch {
  const watchers = new Map<UserId | null, Set<Changed>>();

  const stop = tail.add({
    take(batch) {
      if (watchers.size === 0) return;
      for (const recorded of batch) {
        const changed = queries.taskOwner(recorded);
        if (changed === null) continue;
        for (const user of [changed.user, null])
          for (const each of watchers.get(user) ?? []) each(changed.task, recorded.position);
      }
    },
  });

  return {
    add(user, changed) {
      const all = watchers.get(user) ?? new Set();
      watchers.set(user, all.add(changed));
      return () => {
        all.delete(changed);
        if (all.size === 0 && watchers.get(user) === all) watchers.delete(user);
      };
    },
    stop: () => void stop(),
  };
}
