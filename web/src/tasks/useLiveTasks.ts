import { useSubscription } from '@apollo/client/react';
import { useCallback, useEffect, useRef } from 'react';
import type { TaskRowFragment } from '../generated/tasks/tasks.js';
import { TaskProgressDocument } from '../generated/tasks/tasks.js';
import { useRegained } from '../kit/live/liveConnection.js';
import { platformsOf, type TaskList } from './taskParams.js';

interface LiveTasksOptions {
  readonly admin: boolean;
  readonly list: TaskList;
  /** Those shown; undefined: not known yet. */
  readonly rows: readonly TaskRowFragment[] | undefined;
  readonly isNewest: boolean;
  readonly refetch: () => unknown;
}

/** Tasks that come together are asked for together, so that a busy gateway is not asked twenty times a second. */
const togetherMs = 500;

/**
 * Tasks as they get on: each comes whole, and every row that shows it follows. One that is not shown is new: the newest
 * page asks for its tasks anew, which also says where in it they stand.
 */
export function useLiveTasks({ admin, list, rows, isNewest, refetch }: LiveTasksOptions): void {
  const latest = useRef({ rows, isNewest, refetch });
  latest.current = { rows, isNewest, refetch };
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const askAnew = useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      void latest.current.refetch();
    }, togetherMs);
  }, []);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  useSubscription(TaskProgressDocument, {
    variables: { everyone: admin, admin },
    ignoreResults: true,
    onData: ({ data: { data } }) => {
      const task = data?.taskProgress;
      const { rows: shown, isNewest: newest } = latest.current;
      if (task === undefined || !newest || shown === undefined) return;
      if (platformsOf[list].includes(task.platform) && !shown.some(({ id }) => id === task.id)) askAnew();
    },
  });
  // What happened while the connection was lost was not delivered.
  useRegained(askAnew);
}
