import type { TaskId } from '../../domain/kernel/ids.js';
import type { OpenTask } from '../ports/task-poll-ports.js';

interface Sighting {
  /** Milliseconds of its age when this process first saw it. */
  readonly age: number;
  /** Milliseconds of the process's own time by then. */
  readonly at: number;
}

/**
 * How old open tasks are. From when this process first sees one its own time counts: a clock that is set, forwards or
 * backwards, makes no task older or younger.
 */
export class TaskAges {
  private readonly seen = new Map<TaskId, Sighting>();

  /** `uptimeMs` never goes back. */
  constructor(
    private readonly now: () => number,
    private readonly uptimeMs: () => number,
  ) {}

  /** Milliseconds since it was submitted, and since this process knows of it. */
  of({ taskId, submittedAt }: OpenTask): { readonly ageMs: number; readonly knownMs: number } {
    let sighting = this.seen.get(taskId);
    if (sighting === undefined) {
      sighting = { age: Math.max(0, this.now() - submittedAt), at: this.uptimeMs() };
      this.seen.set(taskId, sighting);
    }
    const knownMs = this.uptimeMs() - sighting.at;
    return { ageMs: sighting.age + knownMs, knownMs };
  }

  /** Forgets all but these. */
  keep(open: ReadonlySet<TaskId>): void {
    for (const taskId of this.seen.keys()) if (!open.has(taskId)) this.seen.delete(taskId);
  }
}
