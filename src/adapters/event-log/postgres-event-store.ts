import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { AppendResult, EventStore, ExpectedRevision } from '../../application/ports/storage-ports.js';
import { isTransient } from '../../domain/errors/transient-error.js';
import {
  isCallStream,
  type NewEvent,
  Position,
  type Recorded,
  type Revision,
  type StreamName,
  sizeOf,
} from '../../domain/events/events.js';
import {
  currentPayloads,
  orderOriginIn,
  type PayloadVersions,
  type StoredPayload,
  UnreadableEvent,
} from '../../domain/events/upcast.js';
import { Failure } from '../../domain/kernel/failure.js';
import { Instant } from '../../domain/kernel/instant.js';
import { ArchivedLines, isInArchive } from '../archives/archived-lines.js';
import { storedIn } from '../archives/stored-line.js';
import { int8, openPool, type PostgresConnection, parseInt8 } from '../database/postgres.js';
import { logReading } from '../database/session-limits.js';
import type { Log } from '../log.js';
import { checkAppend } from './append-request.js';
import { behindWhichLie, distance } from './dense-positions.js';
import { encodeEvent } from './encoded-event.js';
import { EventSubscriptions } from './event-feed.js';
import { type Append, GroupCommit } from './group-commit.js';
import { LogListener } from './log-listener.js';
import { type Fence, LogWriter } from './log-writer.js';

/* The event log in Postgres. One instance per process and database; its tables come from adapters/migrations. */

export interface PostgresEventStoreOptions {
  readonly connection: PostgresConnection;
  readonly log: Log;
  /** The epoch a node that serves writes in; left out by whoever is no node. */
  readonly fence?: Fence;
  readonly payloads?: PayloadVersions;
  /** How long an append is tried before it rejects with `store-busy` or `store-unavailable`. */
  readonly patienceMs?: number;
  /** Left out: true. false: only for reading, by whoever is notified by somebody else. */
  readonly listens?: boolean;
  /** How often the end of the log is looked at when no notification came. */
  readonly pollMs?: number;
  /** Events a subscriber may be behind before it has to read the log again. */
  readonly subscriberCapacity?: number;
}

/** Connections for reading: catching up must not wait for a long query of somebody else. */
const readers = 3;

/** Appends that may wait for the log, and characters in them: some seconds of full load. */
const maxWaiting = { appends: 5_000, size: 32 * 1024 * 1024, outcomeGraceMs: 5_000 };

/** A page is full with the event that exceeds this, however few it holds. */
const pageBytes = 4 * 1024 * 1024;
/** Characters of all payloads of one stream: many times what any may come to, and little enough to be held at once. */
const maxStream = 128 * 1024 * 1024;

/** The type number (oid) of json. */
const json = 114;
/** Payloads arrive as the text they are, whose length is their weight. */
const payloadsAsText: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === json ? (text: string) => text : oid === int8 ? parseInt8 : pg.types.getTypeParser(oid, format),
};

type EventRow = [
  position: number,
  id: string,
  stream: StreamName,
  revision: number,
  type: string,
  version: number,
  data: string,
  at: number,
];
const columns = 'position, event_id, stream, revision, type, version, data, at';

/** Throws Failure `store-unavailable` when Postgres cannot be reached. */
export async function openPostgresEventStore(options: PostgresEventStoreOptions): Promise<EventStore> {
  return new PostgresEventStore(
    options,
    await openPool(options.connection, options.log, { size: readers, limits: logReading }),
  );
}

class PostgresEventStore implements EventStore {
  private readonly payloads: PayloadVersions;
  private readonly writer: LogWriter;
  private readonly commits: GroupCommit;
  private readonly feed: EventSubscriptions;
  private readonly listener: LogListener | null;
  private readonly archived: ArchivedLines;
  private closing: Promise<void> | null = null;

  constructor(
    options: PostgresEventStoreOptions,
    private readonly pool: pg.Pool,
  ) {
    const { connection, log, fence, payloads, patienceMs = 15_000, listens = true, pollMs = 500 } = options;
    const writer = randomUUID();
    this.archived = new ArchivedLines(pool);
    this.payloads = payloads ?? currentPayloads;
    this.feed = new EventSubscriptions(this, log, options.subscriberCapacity ?? 10_000);
    const wake = () => this.feed.wake();
    this.writer = new LogWriter({
      connection,
      log,
      writer,
      onAppended: (after, events) => this.feed.offer(after, events),
      onRepeated: wake,
      patienceMs,
      fence: fence ?? null,
    });
    this.commits = new GroupCommit((batch) => this.writer.write(batch), { ...maxWaiting, patienceMs });
    // Who writes in an epoch is alone with the log but for commands, which notify of what they append in any case.
    const announced = fence === undefined;
    this.listener = listens ? new LogListener({ connection, log, writer, announced, onNews: wake, pollMs }) : null;
  }

  async append(stream: StreamName, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult> {
    checkAppend(stream, events);
    if (this.closing !== null) throw new Failure('store-unavailable', { reason: 'the event store is closed' });
    return this.commits.add(this.encoded(stream, events, expected));
  }

  async readStream(stream: StreamName): Promise<readonly Recorded[]> {
    const events: Recorded[] = [];
    let size = 0;
    for await (const page of this.streamPages(stream)) {
      size += sizeOf(page);
      if (size > maxStream) throw new Failure('stream-too-large', { stream, allowed: maxStream });
      events.push(...page);
    }
    return events;
  }

  async *streamPages(stream: StreamName, after: Revision = -1): AsyncGenerator<readonly Recorded[], void, undefined> {
    for (let revision = after; ; ) {
      const rows = await this.query<EventRow>({
        name: 'read_stream',
        text: `SELECT ${columns} FROM read_stream($1, $2, $3)`,
        values: [stream, revision, pageBytes],
        types: payloadsAsText,
      });
      const page = rows.map((row) => this.decode(row));
      const last = page.at(-1);
      // While calls are taken away, one may lack its first event and have the next.
      const isIncomplete = revision < 0 && (page[0]?.revision ?? 1) > 0;
      if (isIncomplete && isCallStream(stream)) await this.archived.checkCall(stream);
      if (last !== undefined) yield page;
      // A character is three bytes at most: less than a page of them is the end.
      if (last === undefined || sizeOf(page) * 3 < pageBytes) return;
      revision = last.revision;
    }
  }

  async readAll(after: Position, limit: number): Promise<readonly Recorded[]> {
    const rows = await this.rowsBehind(after, limit);
    const page: Recorded[] = [];
    for (const row of rows) {
      try {
        page.push(this.decode(row));
      } catch (error) {
        // What lies before it is good: whoever reads on from there meets it next.
        if (page.length > 0) break;
        throw error;
      }
    }
    return page;
  }

  private async rowsBehind(after: Position, limit: number): Promise<EventRow[]> {
    try {
      return await this.query<EventRow>({
        name: 'read_all',
        text: `SELECT ${columns} FROM read_events($1, $2, $3)`,
        values: [after, limit, pageBytes],
        types: payloadsAsText,
      });
    } catch (error) {
      if (!isInArchive(error)) throw error;
    }
    const lines = await this.archived.after(after, limit);
    // It has been read back in the meantime.
    if (lines === null) return this.rowsBehind(after, limit);
    return lines.map(storedIn).map(({ position, id, stream, revision, type, version, data, at }) => {
      return [position, id, stream as StreamName, revision, type, version, data, at];
    });
  }

  async readNewest(limit: number): Promise<readonly Recorded[]> {
    const [archived] = await this.query<[number]>({
      text: 'SELECT coalesce(max(last_position), -1) FROM log_archives',
    });
    const newest = behindWhichLie(limit, await this.head());
    return this.readAll(Position(Math.max(Number(newest), archived?.[0] ?? -1)), limit);
  }

  estimateBetween(after: Position, upTo: Position): number {
    return distance(after, upTo);
  }

  async head(): Promise<Position> {
    const [row] = await this.query<[number]>({ text: 'SELECT coalesce(max(position), -1) FROM events' });
    if (row === undefined) throw new Error('Postgres answered an aggregate without a row');
    return Position(row[0]);
  }

  subscribe(after: Position, signal: AbortSignal): AsyncIterable<readonly Recorded[]> {
    return this.feed.subscribe(after, signal);
  }

  close(): Promise<void> {
    this.closing ??= this.shutDown();
    return this.closing;
  }

  private async shutDown(): Promise<void> {
    await this.commits.drained();
    this.feed.close();
    await Promise.all([this.writer.close(), this.listener?.close(), this.pool.end(), this.archived.close()]);
  }

  private encoded(stream: StreamName, events: readonly NewEvent[], expected: ExpectedRevision): Append {
    const encoded = events.map((event) => encodeEvent(event, this.payloads));
    const size = encoded.reduce((sum, { data }) => sum + data.length, 0);
    return { stream, events: encoded, expected, size, since: performance.now() };
  }

  private decode([position, id, stream, revision, type, version, data, at]: EventRow): Recorded {
    try {
      const payload = JSON.parse(data) as StoredPayload;
      const event = this.payloads.upcast(type, version, payload);
      const recorded = {
        id,
        stream,
        revision,
        position: Position(position),
        at: Instant(at),
        event,
        size: data.length,
      };
      const ordered = orderOriginIn(payload);
      return ordered === undefined ? recorded : { ...recorded, ordered };
    } catch (error) {
      throw error instanceof UnreadableEvent ? error.at(Position(position)) : error;
    }
  }

  private async query<Row extends unknown[]>(query: pg.QueryConfig): Promise<Row[]> {
    try {
      const { rows } = await this.pool.query<Row>({ ...query, rowMode: 'array' });
      return rows;
    } catch (error) {
      // The statements are right: whatever the server has against one (cancelled, out of time, not permitted) is its
      // state, and no event is to blame for it.
      if (isInArchive(error)) throw error;
      if (isTransient(error) || error instanceof pg.DatabaseError)
        throw new Failure('store-unavailable', { reason: String(error) });
      throw error;
    }
  }
}
