import { type Selectable, sql } from 'kysely';
import type { CallReleased, CallSettled } from '../../domain/call/call.js';
import { type Recorded, streamKey } from '../../domain/events/events.js';
import type { ChannelId } from '../../domain/kernel/ids.js';
import { type Instant, unixSeconds } from '../../domain/kernel/instant.js';
import type { ReadModels } from '../database.js';
import { storableText } from '../engine/column-arrays.js';
import { putRows } from '../engine/multi-row.js';
import { projection } from '../engine/projection.js';
import { tallyOf } from '../engine/tallies.js';

/* How channels failed calls, by hour and cause: every attempt, also one that another channel made good. */

export interface ChannelFailureTables {
  channel_failure: {
    channel_id: ChannelId;
    /** Unix seconds of its beginning. */
    hour: number;
    /** What upstream answered with; 0: it gave no answer. */
    status: number;
    /** '': none. */
    code: string;
    failures: number;
    /** Those of them whose callers were answered by another channel. */
    rescued: number;
    /** Unix seconds. */
    last_at: number;
    last_request_id: string;
  };
}

const tables = `
  create table channel_failure (
    channel_id bigint not null,
    hour bigint not null,
    failures bigint not null,
    rescued bigint not null,
    last_at bigint not null,
    status integer not null,
    code text not null,
    last_request_id text not null,
    primary key (channel_id, hour, status, code)
  ) with (fillfactor = 70);
`;

type Row = Selectable<ChannelFailureTables['channel_failure']>;
type Failure = Pick<Row, 'channel_id' | 'status' | 'code'>;

const hourSeconds = 3_600;
const maxCodeLength = 64;

const keyOf = ({ channel_id, hour, status, code }: Pick<Row, 'channel_id' | 'hour' | 'status' | 'code'>): string =>
  `${channel_id} ${hour} ${status} ${code}`;

const failure = (channelId: ChannelId, status: number | null, code: string | null): Failure => ({
  channel_id: channelId,
  status: status ?? 0,
  // Upstreams choose their codes.
  code: storableText((code ?? '').slice(0, maxCodeLength)),
});

/** Events of earlier releases record the last attempt only, and what their caller was answered. */
function failuresIn(event: CallSettled | CallReleased): readonly Failure[] {
  if (event.failedAttempts !== undefined)
    return event.failedAttempts.map(({ channelId, status, code }) => failure(channelId, status, code));
  if (event.type === 'CallSettled' || event.reason !== 'upstream-failed') return [];
  const last = event.attempts.at(-1);
  return last === undefined ? [] : [failure(last, event.status, event.code)];
}

export const channelFailures = projection<CallSettled | CallReleased>({
  name: 'channel_failures',
  version: 1,
  purpose: 'showing',
  tables,
  interestedIn: { CallSettled: true, CallReleased: true },
  async project(tx, batch) {
    const failed = batch.filter(({ event }) => failuresIn(event).length > 0);
    if (failed.length === 0) return;
    const rows = await rowsBefore(tx, failed);
    for (const recorded of failed) count(rows, recorded);
    await putRows(tx, 'channel_failure', ['channel_id', 'hour', 'status', 'code'], [...rows.values()]);
  },
});

const hourOf = (at: Instant): number => Math.floor(unixSeconds(at) / hourSeconds) * hourSeconds;

async function rowsBefore(
  tx: ReadModels,
  failed: readonly Recorded<CallSettled | CallReleased>[],
): Promise<Map<string, Row>> {
  const channels = new Set(failed.flatMap(({ event }) => failuresIn(event).map(({ channel_id }) => channel_id)));
  const rows = await tx
    .selectFrom('channel_failure')
    .selectAll()
    .where('channel_id', 'in', [...channels])
    .where('hour', 'in', [...new Set(failed.map(({ at }) => hourOf(at)))])
    .execute();
  return new Map(rows.map((row) => [keyOf(row), row]));
}

function count(rows: Map<string, Row>, { event, at, stream }: Recorded<CallSettled | CallReleased>): void {
  for (const cause of failuresIn(event)) {
    const key = { ...cause, hour: hourOf(at) };
    const none = { ...key, failures: 0, rescued: 0, last_at: 0, last_request_id: '' };
    const row = tallyOf(rows, keyOf(key), () => none);
    row.failures += 1;
    if (event.type === 'CallSettled') row.rescued += 1;
    row.last_at = unixSeconds(at);
    row.last_request_id = streamKey(stream);
  }
}

export interface ChannelFailureRange {
  readonly channelId: ChannelId;
  /** Unix seconds, inclusive; hours count by their start. */
  readonly from: number;
  readonly to: number;
}

/** Summed over a range of hours. */
export type ChannelFailureCause = Omit<Row, 'channel_id' | 'hour'>;

/** The most frequent first. */
export const failuresByCause = (
  db: ReadModels,
  { channelId, from, to }: ChannelFailureRange,
  max: number,
): Promise<ChannelFailureCause[]> =>
  db
    .selectFrom('channel_failure')
    .where('channel_id', '=', channelId)
    .where('hour', '>=', from)
    .where('hour', '<=', to)
    .groupBy(['status', 'code'])
    .select(['status', 'code'])
    .select([
      sql<number>`sum(failures)::bigint`.as('failures'),
      sql<number>`sum(rescued)::bigint`.as('rescued'),
      sql<number>`max(last_at)`.as('last_at'),
      sql<string>`(array_agg(last_request_id order by last_at desc))[1]`.as('last_request_id'),
    ])
    .orderBy('failures', 'desc')
    .orderBy('last_at', 'desc')
    .limit(max)
    .execute();
