import { setImmediate as breath } from 'node:timers/promises';
import { repeatAfter } from '../../concurrency/at-intervals.js';
import { beginning, type Position, type Recorded, type StreamName } from '../../domain/events/events.js';
import { isUnavailable } from '../../domain/kernel/failure.js';
import type { Tail } from '../memory/tail.js';
import type { EventStore, ReactionCheckpoints } from '../ports/storage-ports.js';

/*
 * When this happened, do that. A reaction gets which streams something has happened in, and looks for itself what is
 * to be done there now: that is safe to repeat, so how far it has come is written down now and then, and what a crash
 * left is done after the next start.
 */

export interface Reaction {
  /** Under which its place in the log is kept. */
  readonly name: string;
  /** What happened before this release was first started is not for it. */
  readonly onlyNews?: true;
  /** Which stream is to be looked at because of this: mostly its own; null: none. */
  asks(recorded: Recorded): StreamName | null;
  /** Does what the stream, as it stands now, asks for; safe to repeat. */
  react(stream: StreamName): Promise<void>;
}

interface ReactingPorts {
  readonly store: Pick<EventStore, 'readAll'>;
  readonly tail: Pick<Tail, 'add' | 'position'>;
  readonly checkpoints: ReactionCheckpoints;
}

interface ReactingOptions {
  /**
   * Between two rounds, and the least that an event waits for its reaction: whoever has just read the name of something
   * may be about to ask for it.
   */
  readonly everyMs: number;
  readonly failed: (error: unknown, reaction: string) => void;
}

const pageSize = 1_000;
/** Streams after which everything else gets a turn: what is known by heart is done without waiting for anything. */
const streamsPerTurn = 100;

/** An event that asks for a reaction. */
interface Trigger {
  readonly position: Position;
  /** Where the log had come to before it. */
  readonly before: Position;
}

/** Streams a reaction has to look at, and the first event of each that asks for it. */
type Due = Map<StreamName, Trigger>;

const note = (due: Due, stream: StreamName, trigger: Trigger): void => {
  const noted = due.get(stream);
  if (noted === undefined || trigger.position < noted.position) due.set(stream, trigger);
};

class Reacting {
  /** What the next round does. */
  private ripe: Due = new Map();
  /** What has come, or has failed, since the round before. */
  private fresh: Due = new Map();

  constructor(
    readonly reaction: Reaction,
    /** Up to where all has been done, as it is written down. */
    private writtenTo: Position,
    private readonly options: ReactingOptions,
  ) {}

  get behind(): Position {
    return this.writtenTo;
  }

  /** What comes behind `after`. `old`: nobody can be about to ask for what it speaks of. */
  take(batch: readonly Recorded[], after: Position, old: boolean): void {
    let before = after;
    for (const recorded of batch) {
      const { position } = recorded;
      const stream = position <= this.writtenTo ? null : this.reaction.asks(recorded);
      if (stream !== null) note(old ? this.ripe : this.fresh, stream, { position, before });
      before = position;
    }
  }

  /** Throws when the store is away: nothing more can be done then. */
  async work(isStopped: () => boolean): Promise<void> {
    let done = 0;
    for (const [stream, trigger] of this.ripe) {
      if (++done % streamsPerTurn === 0) await breath();
      if (isStopped()) return;
      this.ripe.delete(stream);
      try {
        await this.reaction.react(stream);
      } catch (error) {
        note(this.fresh, stream, trigger);
        if (isUnavailable(error)) throw error;
        this.options.failed(error, this.reaction.name);
      }
    }
  }

  ripen(): void {
    for (const [stream, trigger] of this.fresh) note(this.ripe, stream, trigger);
    this.fresh = new Map();
  }

  async writeDown(checkpoints: ReactionCheckpoints, readTo: Position): Promise<void> {
    let done = readTo;
    for (const due of [this.ripe, this.fresh])
      for (const { position, before } of due.values()) if (position <= done) done = before;
    if (done <= this.writtenTo) return;
    await checkpoints.keep(this.reaction.name, done);
    this.writtenTo = done;
  }
}

/** Begins where each reaction had come to, in the background. The result ends it. */
export async function runReactions(
  { store, tail, checkpoints }: ReactingPorts,
  reactions: readonly Reaction[],
  options: ReactingOptions,
): Promise<() => Promise<void>> {
  const began = tail.position();
  const checkpointOf = async ({ name, onlyNews }: Reaction): Promise<Position> => {
    const checkpoint = await checkpoints.of(name);
    if (checkpoint !== beginning || !onlyNews) return checkpoint;
    await checkpoints.keep(name, began);
    return began;
  };
  const all = await Promise.all(
    reactions.map(async (reaction) => new Reacting(reaction, await checkpointOf(reaction), options)),
  );
  // In one step: what lies up to here is read from the log, and everything behind it is delivered by the tail.
  const tailPosition = tail.position();
  const leave = tail.add({
    take: (batch) => all.forEach((each) => void each.take(batch, tail.position(), false)),
  });
  let readTo = all.reduce((min, { behind }) => (behind < min ? behind : min), tailPosition);
  let stopped = false;
  const isStopped = (): boolean => stopped;

  const readOn = async (): Promise<void> => {
    const page = await store.readAll(readTo, pageSize);
    const last = page.at(-1);
    if (last === undefined) throw new Error(`The log ends at ${readTo}, but it has been at ${tailPosition}`);
    const old = last.position <= tailPosition ? page : page.filter(({ position }) => position <= tailPosition);
    for (const each of all) each.take(old, readTo, true);
    readTo = last.position < tailPosition ? last.position : tailPosition;
  };

  const writeDown = async (): Promise<void> => {
    for (const each of all) await each.writeDown(checkpoints, readTo < tailPosition ? readTo : tail.position());
  };

  const round = async (): Promise<void> => {
    for (const each of all) await each.work(isStopped);
    while (readTo < tailPosition && !stopped) {
      await readOn();
      for (const each of all) await each.work(isStopped);
      await writeDown();
    }
    for (const each of all) each.ripen();
    await writeDown();
  };

  const endRounds = repeatAfter(0, async () => {
    await round().catch((error) => options.failed(error, 'all'));
    return options.everyMs;
  });

  return async () => {
    stopped = true;
    leave();
    await endRounds();
  };
}
