import { sql } from 'kysely';
import type { CallFacts } from '../../../domain/call.js';
import { beginning, type Position, type Recorded, streamKey } from '../../../domain/events.js';
import { assertNever } from '../../../domain/failure.js';
import { ApiKeyId, UserId } from '../../../domain/ids.js';
import type { ReadModels } from '../../database.js';
import type { EventFeed } from '../../engine/projection.js';
import { availableOf, reservedOf } from './ledger.js';
import { inOneSchema } from './ledger-queries.js';

/*
 * Checks the ledger against the log. The figures are worked out anew and another way than by postings, so that a mistake
 * in the fold shows as well as damage to the tables. So it does not ask `domain/movements.ts`.
 */

interface LedgerDifference {
  /** An account, `apikey:{id}` or `call:{id}`. */
  readonly account: string;
  /** By the log. */
  readonly expected: bigint;
  /** By the tables; what is missing there counts as 0. */
  readonly actual: bigint;
}

export interface LedgerVerdict {
  /** What was compared is the state at this position. */
  readonly position: Position;
  readonly events: number;
  readonly accounts: number;
  /** Of all balances: must be 0. */
  readonly sum: bigint;
  readonly differences: readonly LedgerDifference[];
}

export const isSound = ({ sum, differences }: LedgerVerdict): boolean => sum === 0n && differences.length === 0;

type Figures = Map<string, bigint>;

const pageSize = 2_000;

/** Reads the whole log up to where the ledger is; changes nothing. */
export async function verifyLedger(db: ReadModels, feed: Pick<EventFeed, 'readAll'>): Promise<LedgerVerdict> {
  const { position, figures: actual, accounts, sum } = await figuresInTables(db);
  const { figures: expected, events } = await figuresInLog(feed, position);
  const differences = [...new Set([...expected.keys(), ...actual.keys()])]
    .map((account) => ({ account, expected: expected.get(account) ?? 0n, actual: actual.get(account) ?? 0n }))
    .filter((figure) => figure.expected !== figure.actual)
    .sort((a, b) => (a.account < b.account ? -1 : 1));
  return { position, events, accounts, sum, differences };
}

interface Tables {
  position: Position;
  balances: [string, string][];
  api_keys: [number, string][];
  calls: [string, string][];
  whole: boolean;
}

async function figuresInTables(
  db: ReadModels,
): Promise<{ position: Position; figures: Figures; accounts: number; sum: bigint }> {
  for (let attempt = 0; attempt < 10; attempt++) {
    // One statement, for all of it must be of one moment. Amounts come as text: a number in JSON ends at 2^53.
    const { rows } = await sql<Tables>`
      select folded.position, ${inOneSchema} as whole,
        (select coalesce(json_agg(json_build_array(account, balance::text)), '[]') from ledger_balance) as balances,
        (select coalesce(json_agg(json_build_array(api_key_id, balance::text)), '[]') from api_key_balance) as api_keys,
        (select coalesce(json_agg(json_build_array(call_id, reserved::text)), '[]') from open_call) as calls
      from ledger_position folded
    `.execute(db);
    const [found] = rows;
    if (!found?.whole) continue;
    const figures: Figures = new Map(found.balances.map(([account, balance]) => [account, BigInt(balance)]));
    for (const [id, balance] of found.api_keys) figures.set(`apikey:${id}`, BigInt(balance));
    for (const [id, reserved] of found.calls) figures.set(`call:${id}`, BigInt(reserved));
    const sum = found.balances.reduce((total, [, balance]) => total + BigInt(balance), 0n);
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

const add = <Key>(sums: Map<Key, bigint>, key: Key, amount: bigint): void => {
  sums.set(key, (sums.get(key) ?? 0n) + amount);
};

/** What was given, what was charged, what is held: the balances follow. */
class Facts {
  private readonly owned = new Map<UserId, bigint>();
  private readonly apiKeys = new Map<ApiKeyId, bigint>();
  private readonly held = new Map<string, { user: UserId; quota: bigint }>();
  private granted = 0n;
  private adjusted = 0n;
  private charged = 0n;
  private suspense = 0n;

  take({ event, stream }: Recorded): void {
    switch (event.type) {
      case 'QuotaGranted':
        add(this.owned, UserId(streamKey(stream)), BigInt(event.quota));
        this.granted += BigInt(event.quota);
        return;
      case 'QuotaAdjusted':
        add(this.owned, UserId(streamKey(stream)), BigInt(event.delta));
        this.granted += BigInt(event.gift);
        this.adjusted += BigInt(event.delta) - BigInt(event.gift);
        return;
      case 'ApiKeyIssued':
        add(this.apiKeys, ApiKeyId(streamKey(stream)), BigInt(event.quota));
        return;
      case 'ApiKeyEdited':
        add(this.apiKeys, ApiKeyId(streamKey(stream)), BigInt(event.quotaDelta));
        return;
      case 'CallReserved':
        add(this.owned, event.facts.userId, 0n);
        this.held.set(streamKey(stream), { user: event.facts.userId, quota: BigInt(event.reserved) });
        return;
      case 'CallSettled':
        this.held.delete(streamKey(stream));
        this.charge(event.facts, BigInt(event.charged));
        this.suspense += BigInt(event.suspense) + BigInt(event.uncovered);
        return;
      case 'CallReleased':
        this.held.delete(streamKey(stream));
        this.suspense += BigInt(event.suspense);
        return;
      case 'CallRefunded':
        this.charge(event.facts, -BigInt(event.settlement.charged));
        this.suspense += BigInt(event.suspense);
        return;
      case 'UserRegistered':
      case 'UserProfileChanged':
      case 'UserGroupChanged':
      case 'UserRoleChanged':
      case 'UserDisabled':
      case 'UserEnabled':
      case 'UserDeleted':
      case 'PasswordChanged':
      case 'AccessTokenIssued':
      case 'UserSettingsChanged':
      case 'UsernameClaimed':
      case 'UsernameReleased':
      case 'ApiKeyEnabled':
      case 'ApiKeyDisabled':
      case 'ApiKeyDeleted':
      case 'ChannelAdded':
      case 'ChannelEdited':
      case 'ChannelEnabled':
      case 'ChannelDisabled':
      case 'ChannelTested':
      case 'ChannelRemoved':
      case 'OptionChanged':
      case 'SetupCompleted':
      case 'EventQuarantined':
        return;
      default:
        assertNever(event);
    }
  }

  private charge({ userId, apiKeyId }: CallFacts, quota: bigint): void {
    add(this.owned, userId, -quota);
    if (apiKeyId !== null) add(this.apiKeys, apiKeyId, -quota);
    this.charged += quota;
  }

  figures(): Figures {
    const reserved = new Map<UserId, bigint>();
    for (const { user, quota } of this.held.values()) add(reserved, user, quota);
    const figures: Figures = new Map<string, bigint>([
      ['grants', -this.granted],
      ['adjustments', -this.adjusted],
      ['revenue', this.charged - this.suspense],
      ['suspense', this.suspense],
    ]);
    for (const [user, quota] of this.owned) {
      figures.set(availableOf(user), quota - (reserved.get(user) ?? 0n));
      figures.set(reservedOf(user), reserved.get(user) ?? 0n);
    }
    for (const [id, balance] of this.apiKeys) figures.set(`apikey:${id}`, balance);
    for (const [callId, { quota }] of this.held) figures.set(`call:${callId}`, quota);
    return figures;
  }
}
