import type pg from 'pg';

/*
 * The event log as it stands in its table, read by SQL and taken apart here. The checker shares no code with the domain:
 * a mistake in packing or folding events must not be made twice.
 */

export interface RawEvent {
  readonly position: bigint;
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  readonly data: unknown;
}

const pageSize = 5_000;

export async function readEvents(client: pg.Client, after: bigint): Promise<RawEvent[]> {
  const events: RawEvent[] = [];
  for (let from = after; ; from = events.at(-1)?.position ?? from) {
    const { rows } = await client.query<Record<'position' | 'stream' | 'type' | 'data', string> & { revision: number }>(
      `select e.position::text as position, e.stream, e.revision, e.type, e.data::text as data from events e
       where e.position > $1 order by e.position limit ${pageSize}`,
      [String(from)],
    );
    if (rows.length === 0) return events;
    for (const row of rows)
      events.push({ ...row, position: BigInt(row.position), data: JSON.parse(row.data) as unknown });
  }
}

/** How many there are up to a position, and a digest of which and in what order. */
export async function digestUpTo(client: pg.Client, position: bigint): Promise<string> {
  const { rows } = await client.query<{ digest: string }>(
    `select count(*) || ' ' || coalesce(md5(string_agg(event_id || stream || revision || data::text, ',' order by position)), '')
       as digest
     from events where position <= $1`,
    [String(position)],
  );
  return rows[0]?.digest ?? '';
}

/** What the checker has to know of an event of a call. */
export interface CallEventRead {
  readonly user: number;
  readonly apiKey: number | null;
  readonly model: string;
  readonly reserved: bigint;
  readonly charged: bigint;
  readonly uncovered: bigint;
  readonly suspense: bigint;
  /** Concluded by recovery, which does not know under which terms it was admitted. */
  readonly recovered: boolean;
  /** Released because its settlement could not be written. */
  readonly withheld: boolean;
}

export type Members = Readonly<Record<string, unknown>>;

const big = (value: unknown): bigint => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new Error(`not a quota: ${String(value)}`);
  return BigInt(value);
};

/** The number that stands for the outcome `gateway-failed`. */
const gatewayFailed = 5;

/** Places of the packed forms, which keep their meaning for ever. */
type Places = Partial<Record<'charged' | 'uncovered' | 'suspense' | 'outcome' | 'reason', number>>;
const places: Readonly<Record<string, Places>> = {
  CallSettled: { charged: 2, outcome: 6, uncovered: 13, suspense: 14 },
  CallReleased: { reason: 2, suspense: 7 },
};

function packedCall(type: string, members: readonly unknown[]): CallEventRead {
  const [facts, reserved] = members;
  if (!Array.isArray(facts)) throw new Error(`a packed ${type} without its facts`);
  const at = places[type] ?? {};
  const reason = at.reason === undefined ? null : members[at.reason];
  const quotaAt = (place: number | undefined): bigint => (place === undefined ? 0n : big(members[place] ?? 0));
  return {
    user: Number(facts[0]),
    apiKey: facts[1] === null ? null : Number(facts[1]),
    model: String(facts[4]),
    reserved: big(reserved),
    charged: quotaAt(at.charged),
    uncovered: quotaAt(at.uncovered),
    suspense: quotaAt(at.suspense),
    recovered: reason === 'recovered' || (at.outcome !== undefined && members[at.outcome] === gatewayFailed),
    withheld: reason === 'not-booked',
  };
}

function namedCall(data: Members): CallEventRead {
  const facts = data.facts as Members;
  const taken = data.settlement as Members | undefined;
  return {
    user: Number(facts.userId),
    apiKey: facts.apiKeyId === null ? null : Number(facts.apiKeyId),
    model: String(facts.model),
    reserved: big(data.reserved ?? 0),
    charged: big(taken?.charged ?? data.charged ?? 0),
    uncovered: big(data.uncovered ?? 0),
    suspense: big(data.suspense ?? 0),
    recovered: data.reason === 'recovered' || data.outcome === 'gateway-failed',
    withheld: data.reason === 'not-booked',
  };
}

export const callEvent = ({ type, data }: RawEvent): CallEventRead =>
  Array.isArray(data) ? packedCall(type, data) : namedCall(data as Members);

export const membersOf = ({ data, type }: RawEvent): Members => {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) throw new Error(`${type} has no members`);
  return data as Members;
};

export const quotaIn = (members: Members, name: string): bigint => big(members[name]);
