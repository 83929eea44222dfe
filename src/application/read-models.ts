import { type Position, streams } from '../domain/events.js';
import { invalidField } from '../domain/failure.js';
import { quarantineDecider } from '../domain/quarantine.js';
import type { Actor } from '../domain/user.js';
import type { ReadModelState } from '../projections/runner.js';
import { authorise } from './authorise.js';
import type { Handle } from './handle.js';
import type { ReadModelProgress } from './ports.js';

export interface ReadModelPorts {
  readonly handle: Handle;
  readonly progress: ReadModelProgress;
}

/** What a stopped read model is told to leave out. */
export interface QuarantineInput {
  readonly model: string;
  /** Where it is stopped: names the event, so that nobody quarantines another one than they were shown. */
  readonly position: Position;
  readonly reason: string;
}

/** Longest it is waited for a stopped read model to go on. */
const resumingMs = 3_000;

export function readModelCommands({ handle, progress }: ReadModelPorts) {
  return {
    /** Every read model and how it stands. */
    list(viewer: Actor): readonly ReadModelState[] {
      authorise(viewer, 'admin');
      return progress.status();
    },

    /** The read model goes on without the event that it cannot fold; resolves when it has, or after a bounded while. */
    async quarantine(actor: Actor, { model, position, reason }: QuarantineInput): Promise<Position> {
      authorise(actor, 'root');
      const states = progress.status();
      const state = states.find(({ name }) => name === model);
      if (state === undefined) throw invalidField('model', states.map(({ name }) => name).join(', '));
      if (position < 0 || position > state.head) throw invalidField('position', `0 to ${state.head}`);
      const quarantined = await handle(quarantineDecider, streams.quarantine, {
        type: 'QuarantineEvent',
        model,
        version: state.version,
        position,
        stoppedAt: state.failure?.position ?? null,
        reason,
        by: actor.id,
      });
      await progress.passed(model, position, resumingMs);
      return quarantined.position;
    },
  };
}
