import type { Settings } from '../../application/options/settings.js';
import type { TaskView } from '../../application/ports/task-ports.js';
import type { TaskPlatform } from '../../domain/task/task.js';
import type { JsonObject } from '../json/json.js';
import type { RelayError } from './errors.js';

/* What an endpoint says of the tasks that it takes. */

/** An earlier task of the caller's, as a request names it. */
export interface NamedTask {
  readonly id: string;
  /** The member it stands in; null: the path. */
  readonly param: string | null;
}

export interface TaskEndpoint {
  /** Only channels of providers that serve it are asked. */
  readonly platform: TaskPlatform;
  /** In upper case. */
  readonly action: (body: JsonObject) => string;
  /** The task that a body goes on from, whose channel it goes to; null: it goes on from none. Left out: none does. */
  readonly parent?: (body: JsonObject) => NamedTask | null;
  /** Why this task cannot be gone on from; null: it can. Left out: every one can. */
  readonly notFrom?: (parent: TaskView, body: JsonObject, settings: Settings) => RelayError | null;
  /** Where one channel refuses it no other is asked. Left out: others are. */
  readonly asksOnce?: true;
}

/** The same of one request, for the wire that puts it. */
export interface AskedTask {
  readonly action: string;
  /** null: it goes on from none. */
  readonly parent: TaskView | null;
}
