import type { Client } from 'pg';
import { WakeUpSignal } from '../../concurrency/wake-up-signal.js';
import { isTransient } from '../../domain/errors/transient-error.js';
import { beginning, latestOf, Position, type Recorded } from '../../domain/events/events.js';
import { UnreadableEvent } from '../../domain/events/upcast.js';
import type { ReadModels } from '../database.js';
import { boundTo, type Checkpoint, lockedPosition, lockForProjecting, rowOf } from './checkpoints.js';
import type { LogWindow } from './log-window.js';
import { type FoldContext, type NextStep, type Projection, schemaOf } from './projection.js';
import { connectionSettings, wantedChannel, wantedIn } from './projector-connection.js';
import type { ProjectorLog, ProjectorPace } from './projector-pace.js';
import { concerning } from './quarantine.js';

/*
 * One read model on one node. Whoever holds the model's lock leads: folds the log into its tables, on the very
 * connection that holds the lock, so that a leader whose lock is gone cannot write. The others follow its checkpoint.
 */

interface ProjectorParts {
  readonly projection: Projection;
  readonly window: LogWindow;
  /** The positions this read model leaves out, as the log has them now. */
  readonly quarantined: () => Promise<ReadonlySet<Position>>;
  /** A new client, not yet connected. */
  readonly newClient: () => Client;
  /** Of one run of the fold; what is left out is known by then. */
  readonly context: (quarantined: ReadonlySet<Position>) => FoldContext;
  readonly pace: ProjectorPace;
  readonly log: ProjectorLog;
  /** The newest position somebody on this node waits for. */
  readonly wanted: () => Position;
  /** Called whenever `position`, `leading` or `stopped` may have changed. */
  readonly changed: () => void;
  /** Called after each commit with what it folded. */
  readonly committed: (model: string, batch: readonly Recorded[]) => void;
}

export const faultOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The connection a projector leads on. */
interface Lead {
  readonly client: Client;
  readonly tx: ReadModels;
  lost: boolean;
}

export class Projector {
  /** The tables hold every event up to here. */
  position = beginning;
  leading = false;
  /** Set while the model is stopped. */
  failure: Checkpoint['failure'] = null;
  /** What stopped it, where that is an event this release cannot even read. */
  unreadable: UnreadableEvent | null = null;
  /** Left out because somebody decided so. */
  quarantined: ReadonlySet<Position> = new Set();

  private context: FoldContext;
  private checkpoint = beginning;
  /** Events folded since the checkpoint, none of which changed a row. */
  private beyondCheckpoint = 0;
  private checkpointMovedAt = 0;
  /** The newest position somebody on another node waits for. */
  private wantedElsewhere = beginning;
  private heldElsewhere = false;
  private idle = false;
  /** From when on there may be rows to take away, in milliseconds; Infinity: there are none. */
  private untidyFrom = Number.POSITIVE_INFINITY;
  private batchLimit: number;
  private readonly wakeUp = new WakeUpSignal();

  constructor(private readonly parts: ProjectorParts) {
    this.batchLimit = parts.pace.batchSize;
    this.context = parts.context(this.quarantined);
  }

  get projection(): Projection {
    return this.parts.projection;
  }

  private get model(): string {
    return schemaOf(this.projection);
  }

  get stopped(): boolean {
    return this.failure !== null;
  }

  /** Leads whenever nobody else does, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.wakeUp.ring(), { once: true });
    while (!signal.aborted) {
      try {
        if (!this.heldElsewhere) await this.tryToLead(signal);
      } catch (error) {
        this.parts.log.warn({ readModel: this.model, reason: faultOf(error) }, 'projector was interrupted');
      }
      if (!signal.aborted) await this.wakeUp.wait(this.parts.pace.retryMs);
    }
  }

  /** Something may be waiting for what this projector has not folded yet. */
  wake(): void {
    this.wakeUp.ring();
  }

  /** New events are in the window. */
  arrived(): void {
    if (this.idle) this.wakeUp.ring();
  }

  /** What the table of checkpoints says; how followers see the leader's progress, and learn that it is gone. */
  observe({ position, failure, led }: Checkpoint): void {
    if (this.leading) {
      if (this.stopped && failure === null) this.wakeUp.ring();
      return;
    }
    this.position = position;
    this.failure = failure;
    const freed = this.heldElsewhere && !led;
    this.heldElsewhere = led;
    if (freed) this.wakeUp.ring();
    this.parts.changed();
  }

  private async tryToLead(signal: AbortSignal): Promise<void> {
    const client = this.parts.newClient();
    const lead: Lead = { client, tx: boundTo(client), lost: false };
    const lost = () => {
      lead.lost = true;
      if (this.leading) this.wakeUp.ring();
    };
    client.on('error', lost);
    client.on('end', lost);
    client.on('notification', ({ payload }) => {
      this.wantedElsewhere = latestOf([this.wantedElsewhere, wantedIn(payload)]);
      this.wakeUp.ring();
    });
    try {
      await client.connect();
      await client.query(`${connectionSettings(this.model)}; listen ${wantedChannel}`);
      if (await lockForProjecting(client, this.parts.projection)) await this.lead(lead, signal);
      else this.heldElsewhere = true;
    } finally {
      await client.end().catch(() => {});
    }
  }

  private async lead(lead: Lead, signal: AbortSignal): Promise<void> {
    await this.begin(lead);
    this.parts.log.info({ readModel: this.model, position: this.position }, 'projecting');
    try {
      while (!signal.aborted && !lead.lost) {
        if (this.stopped) await this.stayStopped(lead);
        else await this.round(lead, signal);
      }
      if (!lead.lost && !this.stopped) await this.moveCheckpoint(lead);
    } finally {
      this.leading = false;
      this.parts.window.leave(this);
      this.parts.changed();
    }
  }

  /** Takes over at the checkpoint. A model that was stopped is tried again. */
  private async begin({ client }: Lead): Promise<void> {
    this.quarantined = await this.parts.quarantined();
    this.context = this.parts.context(this.quarantined);
    const { rows } = await client.query<{ position: number }>(`
      update projections.checkpoints set status = 'running', failed_position = null, failed_type = null, error = null
      where ${rowOf(this.parts.projection)} returning position
    `);
    const [row] = rows;
    if (row === undefined) throw new Error(`The read model ${this.model} has no checkpoint`);
    // In one step: an older look at the checkpoints that arrives now must not set the position back.
    this.leading = true;
    this.failure = null;
    this.unreadable = null;
    this.batchLimit = this.parts.pace.batchSize;
    this.resumeAt(Position(row.position));
  }

  private resumeAt(position: Position): void {
    this.position = position;
    this.checkpoint = position;
    this.beyondCheckpoint = 0;
    this.untidyFrom = 0;
    this.checkpointMovedAt = Date.now();
    this.parts.changed();
  }

  /** Reads what there is, folds it, and rests. */
  private async round(lead: Lead, signal: AbortSignal): Promise<void> {
    const started = Date.now();
    const { window, pace } = this.parts;
    try {
      const batch = await window.read(this, this.position, this.batchLimit);
      const isLeft = Date.now() >= this.untidyFrom && (await this.tidy(lead));
      const last = batch.at(-1);
      if (last === undefined) return isLeft ? undefined : await this.rest(lead);
      const isBehind = batch.length === this.batchLimit || window.estimateBehind(last.position) >= this.batchLimit;
      // The next one comes while this one is folded.
      if (isBehind) window.readAhead(last.position);
      await this.fold(lead, batch, last.position);
      if (this.checkpointIsDue()) await this.moveCheckpoint(lead);
      if (isBehind) return;
    } catch (error) {
      if (error instanceof UnreadableEvent && error.position !== null) {
        this.unreadable = error;
        const { type, position } = error;
        return await this.stopAt(lead, { type, position }, error);
      }
      if (lead.lost || !isTransient(error)) throw error;
      window.leave(this);
      this.parts.log.warn({ readModel: this.model, reason: faultOf(error) }, 'projector will try again');
      await this.wakeUp.wait(pace.retryMs);
      return;
    }
    const until = started + pace.lingerMs;
    for (let now = Date.now(); now < until && !signal.aborted && !lead.lost && !this.urgent(); now = Date.now())
      await this.wakeUp.wait(until - now);
  }

  private urgent(): boolean {
    return this.parts.wanted() > this.position || this.wantedElsewhere > this.checkpoint;
  }

  /**
   * Events that change nothing leave the checkpoint behind, for a commit per batch would cost more than it is worth;
   * but a crash lets the next start read again whatever lies after it, so it follows also while events keep coming.
   */
  private checkpointIsDue(): boolean {
    const { idleCheckpointMs, idleCheckpointEvents } = this.parts.pace;
    if (this.position === this.checkpoint) return false;
    return (
      this.beyondCheckpoint >= idleCheckpointEvents ||
      Date.now() - this.checkpointMovedAt >= idleCheckpointMs ||
      this.wantedElsewhere > this.checkpoint
    );
  }

  /** Nothing to fold: moves a checkpoint that was left behind, and waits for events. */
  private async rest(lead: Lead): Promise<void> {
    if (this.checkpointIsDue()) {
      await this.moveCheckpoint(lead);
      return;
    }
    const { idleCheckpointMs } = this.parts.pace;
    const left = this.checkpointMovedAt + idleCheckpointMs - Date.now();
    this.idle = true;
    // Something may have come between the last look into the window and now.
    if (this.parts.window.newest <= this.position)
      await this.wakeUp.wait(this.checkpoint < this.position ? left : idleCheckpointMs);
    this.idle = false;
  }

  private async fold(lead: Lead, batch: readonly Recorded[], last: Position): Promise<void> {
    const interesting = concerning(this.projection, this.quarantined, batch);
    if (interesting.length === 0) {
      this.position = last;
      this.beyondCheckpoint += batch.length;
      this.parts.changed();
      return;
    }
    try {
      if (!(await this.commit(lead, interesting, last))) return;
    } catch (error) {
      if (lead.lost || isTransient(error)) throw error;
      await this.narrow(lead, batch, interesting, error);
      return;
    }
    this.batchLimit = this.parts.pace.batchSize;
    this.parts.changed();
    this.parts.committed(this.parts.projection.name, interesting);
  }

  /** Rows and checkpoint in one transaction. False: somebody else has moved the checkpoint; go on from there. */
  private async commit({ client, tx }: Lead, batch: readonly Recorded[], last: Position): Promise<boolean> {
    const { projection } = this.parts;
    try {
      const found = await lockedPosition(client, projection, schemaOf(projection));
      if (found !== this.checkpoint) {
        await client.query('rollback');
        this.resumeAt(found);
        return false;
      }
      await projection.project(tx, batch, this.context);
      await client.query(`
        update projections.checkpoints set position = ${last}, updated_at = now() where ${rowOf(projection)};
        commit
      `);
    } catch (error) {
      await client.query('rollback').catch(() => {});
      throw error;
    }
    this.position = last;
    this.checkpoint = last;
    this.beyondCheckpoint = 0;
    this.checkpointMovedAt = Date.now();
    if (batch.some(({ event }) => event.type === projection.tidying?.after)) this.untidyFrom = 0;
    return true;
  }

  /** One step. What cannot be taken away now is tried again some seconds later: nobody is shown it. True: there is more. */
  private async tidy({ client, tx }: Lead): Promise<boolean> {
    const { projection, log, pace } = this.parts;
    this.untidyFrom = Number.POSITIVE_INFINITY;
    if (projection.tidying === undefined) return false;
    let next: NextStep = 'later';
    try {
      await lockedPosition(client, projection, schemaOf(projection));
      next = await projection.tidying.step(tx);
      await client.query('commit');
    } catch (error) {
      await client.query('rollback').catch(() => {});
      next = 'later';
      log.warn({ readModel: this.model, reason: faultOf(error) }, 'projector could not take away what is not shown');
    }
    if (next !== null) this.untidyFrom = next === 'now' ? 0 : Date.now() + pace.idleCheckpointMs;
    return next === 'now';
  }

  /** Records that events up to `position` are folded though none of them changed a row. */
  private async moveCheckpoint({ client }: Lead): Promise<void> {
    if (this.checkpoint === this.position) return;
    const { rows } = await client.query<{ position: number }>(`
      update projections.checkpoints
      set position = case position when ${this.checkpoint} then ${this.position} else position end, updated_at = now()
      where ${rowOf(this.parts.projection)} returning position
    `);
    const [row] = rows;
    this.resumeAt(row === undefined ? this.checkpoint : Position(row.position));
  }

  /** A batch failed for good: halves it until the one event that cannot be folded stands alone, and stops there. */
  private async narrow(
    lead: Lead,
    batch: readonly Recorded[],
    interesting: readonly Recorded[],
    error: unknown,
  ): Promise<void> {
    const [poisoned] = interesting;
    if (poisoned === undefined || interesting.length > 1) {
      this.batchLimit = Math.max(1, Math.floor(batch.length / 2));
      return;
    }
    await this.stopAt(lead, { position: poisoned.position, type: poisoned.event.type }, error);
  }

  private async stopAt(
    lead: Lead,
    { position, type }: { readonly position: Position; readonly type: string },
    error: unknown,
  ): Promise<void> {
    const failure = { position, type, error: faultOf(error).slice(0, 500) };
    await lead.client.query(
      `update projections.checkpoints
       set status = 'stopped', position = $5, failed_position = $1, failed_type = $2, error = $3, updated_at = now()
       where ${rowOf(this.projection)} and position = $4`,
      [failure.position, failure.type, failure.error, this.checkpoint, this.position],
    );
    this.checkpoint = this.position;
    this.beyondCheckpoint = 0;
    this.failure = failure;
    this.parts.window.leave(this);
    this.parts.log.error({ readModel: this.model, ...failure }, 'projection stopped: an event cannot be folded');
    this.parts.changed();
  }

  /** Waits for a rebuild to set the model right, for somebody to quarantine the event, or for the end. */
  private async stayStopped(lead: Lead): Promise<void> {
    await this.wakeUp.wait(this.parts.pace.idleCheckpointMs);
    if (this.failure !== null && (await this.parts.quarantined()).has(this.failure.position)) {
      this.parts.log.warn({ readModel: this.model, ...this.failure }, 'projection goes on without a quarantined event');
      return await this.begin(lead);
    }
    const { rows } = await lead.client.query<{ position: number; status: Checkpoint['status'] }>(
      `select position, status from projections.checkpoints where ${rowOf(this.parts.projection)}`,
    );
    const [row] = rows;
    if (row === undefined || row.status === 'stopped') return;
    this.failure = null;
    this.unreadable = null;
    this.batchLimit = this.parts.pace.batchSize;
    this.resumeAt(Position(row.position));
  }
}
