import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { ExpectedRevision } from '../../application/ports/storage-ports.js';
import { isTransient } from '../../domain/errors/transient-error.js';
import { isCallStream, Position, type Recorded, type StreamName } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import { newClient, type PostgresConnection } from '../database/postgres.js';
import { appending } from '../database/session-limits.js';
import type { Log } from '../log.js';
import { reusedEventId } from './append-request.js';
import { placeBefore } from './dense-positions.js';
import type { Append, AppendOutcome } from './group-commit.js';

/* Writes batches of appends through functions of the database (migrations 0014 and 0019), on one connection of its own. */

/** The epoch in which a node writes; see the migration 0009. */
export interface Fence {
  readonly epoch: number;
  /** Another node has begun an epoch of its own: nothing of this one will be written any more. */
  readonly onLost: (reason: string) => void;
}

interface LogWriterOptions {
  readonly connection: PostgresConnection;
  readonly log: Log;
  /** Names this writer in the notifications it causes. */
  readonly writer: string;
  /** What this writer has appended, once it is durable: all that come behind `after`, in order. */
  readonly onAppended: (after: Position, events: readonly Recorded[]) => void;
  /** Something had been appended before; if by this writer, the answer was lost and onAppended was not called. */
  readonly onRepeated: () => void;
  /** How long an append is tried before its caller gets the error that it did not work, or that nobody knows. */
  readonly patienceMs: number;
  /** null: appends whoever serves this log. */
  readonly fence: Fence | null;
}

/** One row of append_events. `position` and, for a stream that does not exist, `revision` are null on a conflict. */
type Answer =
  | [verdict: 'appended' | 'repeated', revision: number, position: number]
  | [verdict: 'conflict', actual: number | null, position: null]
  | [verdict: 'reused', actual: number, position: null];

/** A server that has not answered a batch after this long is taken for lost; it gives up earlier by itself. */
const answerTimeoutMs = 10_000;
const maxPauseMs = 500;

const lostToAnother = 'Another Tallygate node has taken over this event log.';

export class LogWriter {
  private client: pg.Client | null = null;
  private closed = false;
  /** Another node writes now. */
  private fencedOff = false;

  constructor(private readonly options: LogWriterOptions) {}

  /**
   * One outcome per append, in order. A connection lost on the way leaves the outcome unknown: the batch is repeated,
   * and its event ids make that harmless. Each append is given up when its own patience is over. An append the server
   * chokes on fails alone.
   */
  async write(batch: readonly Append[]): Promise<readonly AppendOutcome[]> {
    const outcomes = new Map<Append, AppendOutcome>();
    let open = batch;
    /** Some attempt ended without the server's word: what it did is not known. */
    let uncertain = false;
    for (let pause = 5; open.length > 0; pause = Math.min(pause * 2, maxPauseMs)) {
      if (this.fencedOff) {
        for (const append of open) outcomes.set(append, unanswered(uncertain, lostToAnother));
        break;
      }
      let sent = false;
      try {
        const client = await this.connected();
        sent = true;
        const answers = await this.send(client, open);
        this.conclude(open, answers, outcomes);
        break;
      } catch (error) {
        if (isFencedOff(error)) {
          this.fencedOff = true;
          this.options.fence?.onLost(lostToAnother);
          continue;
        }
        if (!isTransient(error)) {
          await this.isolate(open, error, outcomes);
          break;
        }
        this.options.log.warn({ reason: String(error), appends: open.length }, 'an append is repeated: no answer');
        if (!isRefusal(error)) {
          uncertain ||= sent;
          this.disconnect();
        }
        open = this.giveUp(open, performance.now() + pause, uncertain, outcomes);
        if (open.length > 0) await sleep(pause);
      }
    }
    return batch.map((append) => outcomes.get(append) ?? new Error('append_events did not answer every append'));
  }

  /** Answers those whose patience is over at this time; the others are still open. */
  private giveUp(
    open: readonly Append[],
    time: number,
    uncertain: boolean,
    outcomes: Map<Append, AppendOutcome>,
  ): readonly Append[] {
    const failure = unanswered(uncertain, 'the event log does not answer');
    const patient = this.closed ? [] : open.filter(({ since }) => time <= since + this.options.patienceMs);
    for (const append of open) if (!patient.includes(append)) outcomes.set(append, failure);
    return patient;
  }

  async close(): Promise<void> {
    this.closed = true;
    const client = this.client;
    this.client = null;
    await client?.end();
  }

  /** The statement failed as such: write the appends one by one, to find the one it failed for. */
  private async isolate(batch: readonly Append[], error: unknown, outcomes: Map<Append, AppendOutcome>): Promise<void> {
    for (const append of batch) {
      const [outcome] = batch.length === 1 ? [asError(error)] : await this.write([append]);
      if (outcome !== undefined) outcomes.set(append, outcome);
    }
  }

  private async send(client: pg.Client, batch: readonly Append[]): Promise<readonly Answer[]> {
    const timeout = setTimeout(() => client.connection.stream.destroy(), answerTimeoutMs);
    try {
      const parameters = parametersOf(batch, this.options.writer, this.options.fence?.epoch ?? null);
      return (
        (batch.every(continuesCall) ? await this.appendCalls(client, batch, parameters) : null) ??
        (await this.appendEvents(client, parameters))
      );
    } finally {
      clearTimeout(timeout);
    }
  }

  /** null: nothing was written, for some append is not what its call goes on with. */
  private async appendCalls(
    client: pg.Client,
    batch: readonly Append[],
    { ids, types, versions, instants, data, writer, epoch }: Parameters,
  ): Promise<readonly Answer[] | null> {
    const { streams, expected, firsts } = eventByEvent(batch);
    const { rows } = await client.query<[head: number | null]>({
      name: 'append_calls',
      text: 'SELECT append_calls($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)',
      values: [streams, expected, firsts, ids, types, versions, instants, data, writer, epoch],
      rowMode: 'array',
    });
    const head = rows[0]?.[0] ?? null;
    if (head === null) return null;
    let position = head;
    return batch.map(({ expected, events }) => {
      position += events.length;
      return ['appended', expectedNumber(expected) + events.length, position];
    });
  }

  private async appendEvents(
    client: pg.Client,
    { streams, expected, sizes, owners, places, ids, types, versions, instants, data, writer, epoch }: Parameters,
  ): Promise<readonly Answer[]> {
    const { rows } = await client.query<Answer>({
      name: 'append_events',
      text: 'SELECT * FROM append_events($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)',
      values: [streams, expected, sizes, owners, places, ids, types, versions, instants, data, writer, epoch],
      rowMode: 'array',
    });
    return rows;
  }

  private conclude(batch: readonly Append[], answers: readonly Answer[], outcomes: Map<Append, AppendOutcome>): void {
    const appended: Recorded[] = [];
    let repeated = false;
    batch.forEach((append, index) => {
      const answer = answers[index];
      if (answer === undefined) return;
      const [verdict, revision, position] = answer;
      if (verdict === 'conflict') outcomes.set(append, { ok: false, conflict: { actual: revision } });
      else if (verdict === 'reused') outcomes.set(append, reusedEventId(append.stream));
      else {
        if (verdict === 'appended') appended.push(...recorded(append, revision, position));
        else repeated = true;
        outcomes.set(append, { ok: true, revision, position: Position(position) });
      }
    });
    const [first] = appended;
    if (first !== undefined) this.options.onAppended(placeBefore(first.position, 1), appended);
    if (repeated) this.options.onRepeated();
  }

  private async connected(): Promise<pg.Client> {
    if (this.client !== null) return this.client;
    const client = newClient(this.options.connection, appending);
    client.on('error', () => {
      if (this.client === client) this.client = null;
    });
    await client.connect();
    this.client = client;
    return client;
  }

  private disconnect(): void {
    this.client?.connection.stream.destroy();
    this.client = null;
  }
}

/** The answer to an append that is given up. `uncertain`: an attempt at it may have been carried out. */
const unanswered = (uncertain: boolean, reason: string): Failure =>
  new Failure(uncertain ? 'store-unavailable' : 'store-busy', { reason });

const isFencedOff = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === 'TG001';

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/** The server took the batch back as a whole and serves on: cancelled, out of time, a lock not had, a lost race. */
const isRefusal = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && /^(57014|55P03|40001|40P01)$/.test(error.code ?? '');

/** The events of an append as they now stand in the log, given where the last one went. */
const recorded = ({ stream, events }: Append, lastRevision: number, lastPosition: number): Recorded[] =>
  events.map(({ id, at, event, data }, index) => {
    const before = events.length - 1 - index;
    const [revision, position] = [lastRevision - before, placeBefore(lastPosition, before)];
    return { id, stream, revision, position, at, event, size: data.length };
  });

const expectedNumber = (expected: ExpectedRevision): number =>
  expected === 'any' ? -2 : expected === 'no-stream' ? -1 : expected;

/** For values without quotes, commas or braces; ten times cheaper than escaping them. */
const plainArray = (values: readonly (number | string)[]): string => `{${values.join(',')}}`;

/** What append_calls can write: to a call whose revision is known. */
const continuesCall = ({ stream, expected }: Append): boolean => expected !== 'any' && isCallStream(stream);

/** What append_calls has for each event where append_events has it for each append. */
function eventByEvent(batch: readonly Append[]) {
  const streams: StreamName[] = [];
  const expected: number[] = [];
  const firsts: string[] = [];
  for (const append of batch) {
    const before = expectedNumber(append.expected);
    for (let eventIndex = 0; eventIndex < append.events.length; eventIndex++) {
      streams.push(append.stream);
      expected.push(before + eventIndex);
      firsts.push(eventIndex === 0 ? 't' : 'f');
    }
  }
  return { streams, expected: plainArray(expected), firsts: plainArray(firsts) };
}

type Parameters = ReturnType<typeof parametersOf>;

/** What append_events takes, and append_calls less of, by their names there. */
function parametersOf(batch: readonly Append[], writer: string, epoch: number | null) {
  const owners: number[] = [];
  const places: number[] = [];
  const ids: string[] = [];
  const types: string[] = [];
  const versions: number[] = [];
  const instants: number[] = [];
  const data: string[] = [];
  batch.forEach(({ events }, appendIndex) => {
    events.forEach(({ id, at, event, version, data: payload }, eventIndex) => {
      owners.push(appendIndex + 1);
      places.push(eventIndex + 1);
      ids.push(id);
      types.push(event.type);
      versions.push(version);
      instants.push(at);
      data.push(payload);
    });
  });
  return {
    streams: batch.map(({ stream }) => stream),
    expected: plainArray(batch.map(({ expected }) => expectedNumber(expected))),
    sizes: plainArray(batch.map(({ events }) => events.length)),
    owners: plainArray(owners),
    places: plainArray(places),
    ids: plainArray(ids),
    types,
    versions: plainArray(versions),
    instants: plainArray(instants),
    data: data.join('\n'),
    writer,
    epoch,
  };
}
