import { sql } from 'kysely';
import type { CallSettled } from '../../domain/call/call.js';
import type { KeptKind, KeptOwner } from '../../domain/call/kept-object.js';
import { completionTokens, promptTokens } from '../../domain/call/usage.js';
import { type Position, streamKey } from '../../domain/events/events.js';
import { CallId, type ChannelId, type UserId } from '../../domain/kernel/ids.js';
import { type Instant, unixSeconds } from '../../domain/kernel/instant.js';
import type { ReadModels } from '../database.js';
import { putNewRows } from '../engine/multi-row.js';
import { projection } from '../engine/projection.js';

/*
 * Whose it is what a provider keeps, and which channel has it. Whoever was given an id first owns it. A conversation that
 * its owner goes on with is as long, and as new, as the last call of it.
 */

export interface KeptObjectTables {
  kept_object: {
    id: string;
    user_id: UserId;
    channel_id: ChannelId;
    /** Unix seconds. */
    at: number;
    position: Position;
    kind: KeptKind;
    call_id: string;
    /** Of the call, input and output. */
    tokens: number;
    /** Of the call, as billed and, where that is another, as sent upstream. */
    model: string;
    upstream_model: string | null;
  };
}

const tables = `
  create table kept_object (
    user_id bigint not null,
    channel_id bigint not null,
    at bigint not null,
    position bigint not null,
    tokens bigint not null,
    id text primary key,
    kind text not null,
    call_id text not null,
    model text not null,
    upstream_model text
  );
  create index on kept_object (user_id, position desc);
`;

/** Of each user the newest are known, about so many. */
const maxOfUser = 20_000;

/** Nobody keeps anything longer, whatever an option says. */
const maxAgeSeconds = 400 * 86_400;

export const keptObjects = projection<CallSettled>({
  name: 'kept_objects',
  version: 2,
  purpose: 'showing',
  tables,
  interestedIn: { CallSettled: true },
  async project(tx, batch) {
    const rows = new Map<string, KeptObjectTables['kept_object']>();
    for (const { event, at, position, stream } of batch)
      for (const { kind, id } of event.kept ?? []) {
        const { facts, channelId, upstreamModel } = event;
        const owner = { id, user_id: facts.userId, channel_id: channelId, kind };
        const place = { at: unixSeconds(at), position, call_id: streamKey(stream), tokens: tokensOf(event) };
        const row = { ...owner, ...place, model: facts.model, upstream_model: upstreamModel };
        const known = rows.get(id);
        if (known === undefined || goesOn(known, row)) rows.set(id, row);
      }
    if (rows.size === 0) return;
    await renewConversations(
      tx,
      [...rows.values()].filter(({ kind }) => kind === 'conversation'),
    );
    await putNewRows(tx, 'kept_object', ['id'], [...rows.values()]);
    await forgetOldest(tx, [...rows.values()]);
  },
});

type Row = KeptObjectTables['kept_object'];

const goesOn = (known: Row, row: Row): boolean =>
  row.kind === 'conversation' &&
  known.kind === row.kind &&
  known.user_id === row.user_id &&
  known.channel_id === row.channel_id;

/** Those that are known, and their owner's. */
async function renewConversations(tx: ReadModels, rows: readonly Row[]): Promise<void> {
  for (const { id, kind, user_id, channel_id, ...place } of rows)
    await tx
      .updateTable('kept_object')
      .set(place)
      .where('id', '=', id)
      .where('kind', '=', kind)
      .where('user_id', '=', user_id)
      .where('channel_id', '=', channel_id)
      .execute();
}

const tokensOf = ({ usage }: CallSettled): number => promptTokens(usage) + completionTokens(usage);

async function forgetOldest(tx: ReadModels, added: readonly KeptObjectTables['kept_object'][]): Promise<void> {
  const newest = Math.max(...added.map(({ at }) => at));
  for (const user of new Set(added.map(({ user_id }) => user_id)))
    await sql`
      delete from kept_object where user_id = ${user} and (at < ${newest - maxAgeSeconds} or position < (
        select position from kept_object where user_id = ${user} order by position desc offset ${maxOfUser} limit 1))
    `.execute(tx);
}

/** Of these ids, those that are known. */
export async function ownersOf(db: ReadModels, ids: readonly string[]): Promise<ReadonlyMap<string, KeptOwner>> {
  const rows = await db
    .selectFrom('kept_object')
    .select(['id', 'user_id', 'channel_id', 'kind', 'call_id', 'at', 'tokens', 'model', 'upstream_model'])
    .where('id', 'in', [...ids])
    .execute();
  return new Map(
    rows.map(({ id, user_id: userId, channel_id: channelId, kind, call_id, at, tokens, model, upstream_model }) => {
      const call = {
        callId: CallId(call_id),
        at: (at * 1000) as Instant,
        tokens,
        model,
        upstreamModel: upstream_model,
      };
      return [id, { userId, channelId, kind, ...call }];
    }),
  );
}
