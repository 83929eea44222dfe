import type { ReadModels } from '../../projections/database.js';
import type { Handle } from '../handle.js';
import type { Clock, EventStore, PersonalData } from '../ports/storage-ports.js';
import type { TaskStore } from '../ports/task-ports.js';

/** What tasks need of the world. */
export interface TaskPorts {
  readonly tasks: TaskStore;
  readonly store: Pick<EventStore, 'readStream'>;
  readonly handle: Handle;
  readonly personal: Pick<PersonalData, 'seal' | 'openAll'>;
  readonly db: ReadModels;
  readonly clock: Clock;
}
