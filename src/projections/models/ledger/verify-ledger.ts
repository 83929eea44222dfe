import { sql } from 'kysely';
import { beginning, type Position } from '../../../domain/events/events.js';
import type { ReadModels } from '../../database.js';
import type { EventFeed } from '../../engine/projection.js';
import { walletBalances } from '../wallet-queries.js';
import { type Figures, LedgerFacts, ofWallets } from './ledger-facts.js';
import { inOneSchema } from './ledger-queries.js';

/*
 * Checks the ledger, and the wallets that statements are made of, against the log, by figures that are
 * worked out anew (`ledger-facts.ts`).
 */

interface LedgerDifference {
  /** An account, `apikey:{id}`, `apikey:{id}:{day}` with the day as `2026-03-01`, `call:{id}` or `wallet:{id}`. */
  readonly account: string;
  /** By the log. */
  readonly expected: bigint;
  /** By the tables; what is missing there counts as 0. */
  readonly actual: bigint;
}

interface LedgerVerdict {
  /** What was compared is the state at this position. */
  readonly position: Position;
  readonly events: number;
  readonly accounts: number;
  /** Compared as of the position that they have come to; null: they have not been built yet. */
  readonly wallets: number | null;
  /** Of all balances: must be 0. */
  readonly sum: bigint;
  readonly differences: readonly LedgerDifference[];
}

export const isSound = ({ sum, differences }: LedgerVerdict): boolean => sum === 0n && differences.length === 0;

const pageSize = 2_000;

/** What the tables hold, to be compared with what the log says at the same positions. */
export interface LedgerInTables {
  readonly position: Position;
  readonly accounts: number;
  readonly wallets: number | null;
  readonly sum: bigint;
  readonly stands: readonly Stand[];
}

export async function ledgerInTables(db: ReadModels): Promise<LedgerInTables> {
  const { position, figures, accounts, sum } = await figuresInTables(db);
  const wallets = await walletBalances(db);
  const stands: Stand[] = [{ position, figures, expected: (facts) => facts.figures() }];
  if (wallets !== null)
    stands.push({
      position: wallets.position,
      figures: ofWallets(wallets.balances),
      expected: (facts) => facts.wallets(),
    });
  return { position, accounts, wallets: wallets?.balances.size ?? null, sum, stands };
}

/** Reads the whole log up to where the tables are; changes nothing. */
export async function verifyLedger(db: ReadModels, feed: Pick<EventFeed, 'readAll'>): Promise<LedgerVerdict> {
  const { stands, ...inTables } = await ledgerInTables(db);
  return { ...inTables, ...(await comparedWithLog(feed, stands)) };
}

interface Tables {
  position: Position;
  balances: [string, string][];
  api_keys: [number, string][];
  spending: [number, string, string][];
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
        (select coalesce(json_agg(json_build_array(api_key_id, date '1970-01-01' + day, spent::text)), '[]')
          from api_key_spending) as spending,
        (select coalesce(json_agg(json_build_array(call_id, reserved::text)), '[]') from open_call) as calls
      from ledger_position folded
    `.execute(db);
    const [found] = rows;
    if (!found?.whole) continue;
    const figures: Figures = new Map(found.balances.map(([account, balance]) => [account, BigInt(balance)]));
    for (const [id, balance] of found.api_keys) figures.set(`apikey:${id}`, BigInt(balance));
    for (const [id, day, spent] of found.spending) figures.set(`apikey:${id}:${day}`, BigInt(spent));
    for (const [id, reserved] of found.calls) figures.set(`call:${id}`, BigInt(reserved));
    const sum = found.balances.reduce((total, [, balance]) => total + BigInt(balance), 0n);
    return { position: found.position, figures, accounts: found.balances.length, sum };
  }
  throw new Error('The ledger is being rebuilt over and over: nothing to compare in 10 attempts');
}

/** What tables hold, as of one position. */
interface Stand {
  readonly position: Position;
  readonly figures: Figures;
  /** The same by the log up to there. */
  readonly expected: (facts: LedgerFacts) => Figures;
}

const differencesBetween = (expected: Figures, actual: Figures): LedgerDifference[] =>
  [...new Set([...expected.keys(), ...actual.keys()])]
    .map((account) => ({ account, expected: expected.get(account) ?? 0n, actual: actual.get(account) ?? 0n }))
    .filter((figure) => figure.expected !== figure.actual)
    .sort((a, b) => (a.account < b.account ? -1 : 1));

/** Compares each stand when the facts have come to its position. */
export class LedgerComparison {
  readonly differences: LedgerDifference[] = [];
  /** Of which nothing is known yet, in the order of their positions. */
  private readonly waiting: Stand[];

  constructor(
    stands: readonly Stand[],
    private readonly facts: LedgerFacts,
  ) {
    this.waiting = [...stands].sort((a, b) => (a.position < b.position ? -1 : a.position > b.position ? 1 : 0));
  }

  /** The position of the next one to be compared; null: all have been. */
  get next(): Position | null {
    return this.waiting[0]?.position ?? null;
  }

  /** The facts are those at this position. */
  upTo(position: Position): void {
    for (let next = this.waiting[0]; next !== undefined && next.position <= position; next = this.waiting[0]) {
      this.waiting.shift();
      this.differences.push(...differencesBetween(next.expected(this.facts), next.figures));
    }
  }
}

/** In one reading of the log, though beside a gateway no two read models are at the same position. */
async function comparedWithLog(
  feed: Pick<EventFeed, 'readAll'>,
  stands: readonly Stand[],
): Promise<{ differences: readonly LedgerDifference[]; events: number }> {
  const facts = new LedgerFacts();
  const comparison = new LedgerComparison(stands, facts);
  let events = 0;
  comparison.upTo(beginning);
  for (let after = beginning; comparison.next !== null; ) {
    const page = await feed.readAll(after, pageSize);
    const last = page.at(-1);
    if (last === undefined)
      throw new Error(`The log ends at ${after}, before position ${comparison.next} of what was made from it`);
    for (const recorded of page) {
      if (comparison.next === null) break;
      facts.take(recorded);
      events += 1;
      comparison.upTo(recorded.position);
    }
    after = last.position;
  }
  return { differences: comparison.differences, events };
}
