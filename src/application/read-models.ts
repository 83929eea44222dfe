import { beginning, type Position, streams } from '../domain/events/events.js';
import { quarantineDecider } from '../domain/events/quarantine.js';
import { invalidField } from '../domain/kernel/failure.js';
import type { Actor } from '../domain/user/user.js';
import type { ReadModelState } from '../projections/engine/runner.js';
import { percentOf } from '../projections/engine/watch-building.js';
import { authorise } from './authorise.js';
import type { Handle } from './handle.js';
import type { EventStore, ReadModelProgress } from './ports/storage-ports.js';

/** What deciding about a stopped read model needs to know of all of them. */
export interface QuarantinePorts {
  readonly handle: Handle;
  readonly progress: Pick<ReadModelProgress, 'passed'> & {
    status(): readonly Pick<ReadModelState, 'name' | 'version' | 'head' | 'failure'>[];
  };
}

/** What a stopped read model is ordered to leave out. */
export interface QuarantineInput {
  readonly model: string;
  /** Where it is stopped: names the event, so that nobody quarantines another one than they were shown. */
  readonly position: Position;
  readonly reason: string;
}

/** Longest it is waited for a stopped read model to go on. */
const resumingMs = 3_000;

/** The read model goes on without the event that it cannot fold; resolves when it has, or after a bounded while. */
export const quarantineEvent =
  ({ handle, progress }: QuarantinePorts) =>
  async (by: Actor | 'cli', { model, position, reason }: QuarantineInput): Promise<Position> => {
    const states = progress.status();
    const state = states.find(({ name }) => name === model);
    if (state === undefined) throw invalidField('model', states.map(({ name }) => name).join(', '));
    if (position <= beginning || position > state.head) throw invalidField('position', `0 to ${state.head}`);
    const quarantined = await (by === 'cli' ? handle : handle.by(by))(quarantineDecider, streams.quarantine, {
      type: 'QuarantineEvent',
      model,
      version: state.version,
      position,
      stoppedAt: state.failure?.position ?? null,
      reason,
      by: by === 'cli' ? by : by.id,
    });
    await progress.passed(model, position, resumingMs);
    return quarantined.position;
  };

interface ReadModelPorts {
  readonly store: Pick<EventStore, 'estimateBetween'>;
  readonly handle: Handle;
  readonly progress: ReadModelProgress;
}

export function readModelCommands(ports: ReadModelPorts) {
  const quarantine = quarantineEvent(ports);
  return {
    /** Every read model and how it stands. */
    list(viewer: Actor): readonly ReadModelState[] {
      authorise(viewer, 'admin-reading');
      return ports.progress.status();
    },

    /** While some are being built: how much of the log the one that is furthest behind holds, in percent. null: none is. */
    rebuiltPercent(): number | null {
      const building = ports.progress.status().filter(({ status }) => status === 'building');
      return building.length === 0 ? null : Math.min(...building.map((state) => percentOf(state, ports.store)));
    },

    async quarantine(actor: Actor, input: QuarantineInput): Promise<Position> {
      authorise(actor, 'root');
      return quarantine(actor, input);
    },
  };
}
