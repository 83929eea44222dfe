import { sql } from 'kysely';
import { beginning, type Position, type Recorded, streamKey } from '../domain/events.js';
import { ApiKeyId, UserId } from '../domain/ids.js';
import type { ReadModels } from './database.js';
import { availableOf, reservedOf } from './ledger.js';
import { inOneSchema } from './ledger-queries.js';
import type { EventFeed } from './projection.js';

/*
 * Checks the ledger against the log. The figures are worked out anew and another way than by postings, so that a mistake
 * in the fold shows as well as damage to the tables.
 */

export interface LedgerDifference {
  /** An account, `apikey:{id}` or `call:{id}`. */
  readonly account: string;
  /** By the log. */
  readonly expected: number;
  /** By the tables; what is missing there counts as 0. */
  readonly actual: number;
}

export interface LedgerVerdict {
  /** What was compared is the state at this position. */
  readonly position: Position;
  readonly events: number;
  readonly accounts: number;
  /** Of all balances: must be 0. */
  readonly sum: number;
  readonly differences: readonly LedgerDifference[];
}

export const isSound = ({ sum, differences }: LedgerVerdict): boolean => sum === 0 && differences.length === 0;

type Figures = Map<string, number>;

const pageSize = 2_000;

/** Reads the whole log up to where the ledger is; changes nothing. */
export async function verifyLedger(db: ReadModels, feed: Pick<EventFeed, 'readAll'>): Promise<LedgerVerdict> {
  const { position, figures: actual, accounts, sum } = await figuresInTables(db);
  const { figures: expected, events } = await figuresInLog(feed, position);
  const differences = [...new Set([...expected.keys(), ...actual.keys()])]
    .map((account) => ({ account, expected: expected.get(account) ?? 0, actual: actual.get(account) ?? 0 }))
    .filter((figure) => figure.expected !== figure.actual)
    .sort((a, b) => (a.account < b.account ? -1 : 1));
  return { position, events, accounts, sum, differences };
}

interface Tables {
  position: Position;
  balances: [string, number][];
  api_keys: [number, number][];
  calls: [string, number][];
  whole: boolean;
}

async function figuresInTables(
  db: ReadModels,
): Promise<{ position: Position; figures: Figures; accounts: number; sum: number }> {
  for (let attempt = 0; attempt < 10; attempt++) {
    // One statement, for all of it must be of one moment.
    const { rows } = await sql<Tables>`
      select folded.position, ${inOneSchema} as whole,
        (select coalesce(json_agg(json_build_array(account, balance)), '[]') from ledger_balance) as balances,
        (select coalesce(json_agg(json_build_array(api_key_id, balance)), '[]') from api_key_balance) as api_keys,
        (select coalesce(json_agg(json_build_array(call_id, reserved)), '[]') from open_call) as calls
      from ledger_position folded
    `.execute(db);
    const [found] = rows;
    if (!found?.whole) continue;
    const figures: Figures = new Map(found.balances);
    for (const [id, balance] of found.api_keys) figures.set(`apikey:${id}`, balance);
    for (const [id, reserved] of found.calls) figures.set(`call:${id}`, reserved);
    const sum = found.balances.reduce((total, [, balance]) => total + balance, 0);
    return { position: found.position, figures, accounts: found.balances.length, sum };
  }
  throw new Error('The ledger is being rebuilt over and over: nothing to compare in 10 attempts');
}

async function figuresInLog(
  feed: Pick<EventFeed, 'readAll'>,
  upTo: Position,
): Promise<{ figures: Figures; events: number }> {
  const facts = new Facts();
  let events = 0;
  for (let after = beginning; after < upTo; ) {
    const page = await feed.readAll(after, pageSize);
    const last = page.at(-1);
    if (last === undefined) throw new Error(`The log ends at ${after}, before the ledger's position ${upTo}`);
    for (const recorded of page) {
      if (recorded.position > upTo) break;
      facts.take(recorded);
      events += 1;
    }
    after = last.position;
  }
  return { figures: facts.figures(), events };
}

const add = <Key>(sums: Map<Key, number>, key: Key, amount: number): void => {
  sums.set(key, (sums.get(key) ?? 0) + amount);
};

/** What was given, what was charged, what is held: the balances follow. */
class Facts {
  private readonly owned = new Map<UserId, number>();
  private readonly apiKeys = new Map<ApiKeyId, number>();
  private readonly held = new Map<string, { user: UserId; quota: number }>();
  private granted = 0;
  private adjusted = 0;
  private charged = 0;
  private suspense = 0;

  take({ event, stream }: Recorded): void {
    switch (event.type) {
      case 'QuotaGranted':
        add(this.owned, UserId(streamKey(stream)), event.quota);
        this.granted += event.quota;
        return;
      case 'QuotaAdjusted':
        add(this.owned, UserId(streamKey(stream)), event.delta);
        this.granted += event.gift;
        this.adjusted += event.delta - event.gift;
        return;
      case 'ApiKeyIssued':
        add(this.apiKeys, ApiKeyId(streamKey(stream)), event.quota);
        return;
      case 'ApiKeyEdited':
        add(this.apiKeys, ApiKeyId(streamKey(stream)), event.quotaDelta);
        return;
      case 'CallReserved':
        add(this.owned, event.facts.userId, 0);
        this.held.set(streamKey(stream), { user: event.facts.userId, quota: event.reserved });
        return;
      case 'CallSettled':
        this.held.delete(streamKey(stream));
        add(this.owned, event.facts.userId, -event.charged);
        if (event.facts.apiKeyId !== null) add(this.apiKeys, event.facts.apiKeyId, -event.charged);
        this.charged += event.charged;
        this.suspense += event.suspense + event.uncovered;
        return;
      case 'CallReleased':
        this.held.delete(streamKey(stream));
        this.suspense += event.suspense;
        return;
      case 'CallRefunded': {
        const { charged } = event.settlement;
        add(this.owned, event.facts.userId, charged);
        if (event.facts.apiKeyId !== null) add(this.apiKeys, event.facts.apiKeyId, charged);
        this.charged -= charged;
        this.suspense += event.suspense;
        return;
      }
      default:
        return;
    }
  }

  figures(): Figures {
    const reserved = new Map<UserId, number>();
    for (const { user, quota } of this.held.values()) add(reserved, user, quota);
    const figures: Figures = new Map<string, number>([
      ['grants', -this.granted],
      ['adjustments', -this.adjusted],
      ['revenue', this.charged - this.suspense],
      ['suspense', this.suspense],
    ]);
    for (const [user, quota] of this.owned) {
      figures.set(availableOf(user), quota - (reserved.get(user) ?? 0));
      figures.set(reservedOf(user), reserved.get(user) ?? 0);
    }
    for (const [id, balance] of this.apiKeys) figures.set(`apikey:${id}`, balance);
    for (const [callId, { quota }] of this.held) figures.set(`call:${callId}`, quota);
    return figures;
  }
}
