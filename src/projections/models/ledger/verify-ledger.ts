import { sql } from 'kysely';
import type { CallFacts } from '../../../domain/call/call.js';
import { beginning, type Position, type Recorded, streamKey } from '../../../domain/events/events.js';
import { assertNever } from '../../../domain/kernel/failure.js';
import { ApiKeyId, UserId } from '../../../domain/kernel/ids.js';
import type { Instant } from '../../../domain/kernel/instant.js';
import type { ReadModels } from '../../database.js';
import type { EventFeed } from '../../engine/projection.js';
import { walletBalances } from '../wallet-queries.js';
import { availableOf, invitesOf, reservedOf } from './ledger.js';
import { inOneSchema } from './ledger-queries.js';

/*
 * Checks the ledger, and the wallets that statements are made of, against the log. The figures are worked out anew and
 * another way than by postings, so that a mistake in the fold shows as well as damage to the tables. So it does not ask
 * `domain/ledger/movements.ts`.
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

type Figures = Map<string, bigint>;

const pageSize = 2_000;

/** Reads the whole log up to where the tables are; changes nothing. */
export async function verifyLedger(db: ReadModels, feed: Pick<EventFeed, 'readAll'>): Promise<LedgerVerdict> {
  const { position, figures, accounts, sum } = await figuresInTables(db);
  const wallets = await walletBalances(db);
  const stands: Stand[] = [{ position, figures, expected: (facts) => facts.figures() }];
  if (wallets !== null)
    stands.push({
      position: wallets.position,
      figures: ofWallets(wallets.balances),
      expected: (facts) => facts.wallets(),
    });
  const { differences, events } = await comparedWithLog(feed, stands);
  return { position, events, accounts, wallets: wallets?.balances.size ?? null, sum, differences };
}

const ofWallets = (balances: ReadonlyMap<UserId, bigint>): Figures =>
  new Map([...balances].map(([user, balance]) => [`wallet:${user}`, balance]));

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
  readonly expected: (facts: Facts) => Figures;
}

const differencesBetween = (expected: Figures, actual: Figures): LedgerDifference[] =>
  [...new Set([...expected.keys(), ...actual.keys()])]
    .map((account) => ({ account, expected: expected.get(account) ?? 0n, actual: actual.get(account) ?? 0n }))
    .filter((figure) => figure.expected !== figure.actual)
    .sort((a, b) => (a.account < b.account ? -1 : 1));

/** In one reading of the log, though beside a gateway no two read models are at the same position. */
async function comparedWithLog(
  feed: Pick<EventFeed, 'readAll'>,
  stands: readonly Stand[],
): Promise<{ differences: LedgerDifference[]; events: number }> {
  const differences: LedgerDifference[] = [];
  const waiting = [...stands].sort((a, b) => (a.position < b.position ? -1 : a.position > b.position ? 1 : 0));
  const facts = new Facts();
  let events = 0;
  const compareUpTo = (position: Position): void => {
    for (let next = waiting[0]; next !== undefined && next.position <= position; next = waiting[0]) {
      waiting.shift();
      differences.push(...differencesBetween(next.expected(facts), next.figures));
    }
  };
  compareUpTo(beginning);
  for (let after = beginning; waiting.length > 0; ) {
    const page = await feed.readAll(after, pageSize);
    const last = page.at(-1);
    if (last === undefined)
      throw new Error(`The log ends at ${after}, before position ${waiting.at(-1)?.position} of what was made from it`);
    for (const recorded of page) {
      if (waiting.length === 0) break;
      facts.take(recorded);
      events += 1;
      compareUpTo(recorded.position);
    }
    after = last.position;
  }
  return { differences, events };
}

const add = <Key>(sums: Map<Key, bigint>, key: Key, amount: bigint): void => {
  sums.set(key, (sums.get(key) ?? 0n) + amount);
};

/** What was given, what was charged, what is reserved: the balances follow. */
class Facts {
  private readonly owned = new Map<UserId, bigint>();
  private readonly invites = new Map<UserId, bigint>();
  private readonly apiKeys = new Map<ApiKeyId, bigint>();
  /** By API key and day. */
  private readonly spent = new Map<string, bigint>();
  private readonly reserved = new Map<string, { user: UserId; quota: bigint }>();
  private granted = 0n;
  private adjusted = 0n;
  private redeemed = 0n;
  private charged = 0n;
  private suspense = 0n;
  private bought = 0n;

  take({ event, stream, at }: Recorded): void {
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
      case 'TopUpCompleted':
        add(this.owned, event.user, BigInt(event.quota));
        this.bought += BigInt(event.quota);
        return;
      case 'TopUpRefunded':
      case 'TopUpDisputed':
        add(this.owned, event.user, -BigInt(event.quota));
        this.bought -= BigInt(event.quota);
        return;
      case 'TopUpDisputeWon':
        add(this.owned, event.user, BigInt(event.quota));
        this.bought += BigInt(event.quota);
        return;
      case 'RedemptionCodeRedeemed':
        add(this.owned, event.user, BigInt(event.quota));
        this.redeemed += BigInt(event.quota);
        return;
      case 'InviteRewardEarned':
        add(this.invites, UserId(streamKey(stream)), BigInt(event.quota));
        this.granted += BigInt(event.quota);
        return;
      case 'InviteRewardTransferred':
        add(this.invites, UserId(streamKey(stream)), -BigInt(event.quota));
        add(this.owned, UserId(streamKey(stream)), BigInt(event.quota));
        return;
      case 'ApiKeyIssued':
        add(this.apiKeys, ApiKeyId(streamKey(stream)), BigInt(event.quota));
        return;
      case 'ApiKeyEdited':
        add(this.apiKeys, ApiKeyId(streamKey(stream)), BigInt(event.quotaDelta));
        return;
      case 'CallReserved':
        add(this.owned, event.facts.userId, 0n);
        this.reserved.set(streamKey(stream), { user: event.facts.userId, quota: BigInt(event.reserved) });
        return;
      case 'CallSettled':
        this.reserved.delete(streamKey(stream));
        this.charge(event.facts, BigInt(event.charged), at);
        this.suspense += BigInt(event.suspense) + BigInt(event.uncovered);
        return;
      case 'CallReleased':
        this.reserved.delete(streamKey(stream));
        this.suspense += BigInt(event.suspense);
        return;
      case 'CallRefunded':
        this.charge(event.facts, -BigInt(event.settlement.charged), event.settlement.at);
        this.suspense += BigInt(event.suspense);
        return;
      case 'UserRegistered':
      case 'UserProfileChanged':
      case 'EmailChanged':
      case 'IdentityLinked':
      case 'IdentityUnlinked':
      case 'PasskeyGivenUp':
      case 'UserGroupChanged':
      case 'UserRoleChanged':
      case 'UserDisabled':
      case 'UserEnabled':
      case 'UserDeleted':
      case 'UserErased':
      case 'SignInsEnded':
      case 'InviteCodeIssued':
      case 'InviteRewardPromised':
      case 'PasswordChanged':
      case 'AccessTokenIssued':
      case 'UserSettingsChanged':
      case 'UsernameClaimed':
      case 'UsernameReleased':
      case 'IdentityClaimed':
      case 'IdentityReleased':
      case 'TotpEnrolled':
      case 'TotpCodeUsed':
      case 'TotpTurnedOff':
      case 'RecoveryCodesRenewed':
      case 'RecoveryCodeUsed':
      case 'PasskeyAdded':
      case 'PasskeyUsed':
      case 'PasskeyRenamed':
      case 'PasskeyRemoved':
      case 'FactorsReset':
      case 'InviteCodeClaimed':
      case 'InviteCodeReleased':
      case 'ApiKeyEnabled':
      case 'ApiKeyDisabled':
      case 'ApiKeyRevoked':
      case 'ApiKeyDeleted':
      case 'ChannelAdded':
      case 'ChannelEdited':
      case 'ChannelEnabled':
      case 'ChannelDisabled':
      case 'ChannelTested':
      case 'ChannelBalanceObserved':
      case 'ChannelRemoved':
      case 'RedemptionCodeIssued':
      case 'RedemptionCodeEdited':
      case 'RedemptionCodeEnabled':
      case 'RedemptionCodeDisabled':
      case 'RedemptionCodeDeleted':
      case 'ChannelTestRunFinished':
      case 'LogsCleared':
      case 'OptionChanged':
      case 'ModelPricesChanged':
      case 'SetupCompleted':
      case 'TopUpRequested':
      case 'TopUpBegun':
      case 'TopUpExpired':
      case 'CallRefused':
      case 'CallsRefused':
      case 'TaskSubmitted':
      case 'TaskProgressed':
      case 'TaskSucceeded':
      case 'TaskFailed':
      case 'EventQuarantined':
        return;
      default:
        assertNever(event);
    }
  }

  /** `at`: when it was settled. */
  private charge({ userId, apiKeyId }: CallFacts, quota: bigint, at: Instant): void {
    add(this.owned, userId, -quota);
    if (apiKeyId !== null) {
      add(this.apiKeys, apiKeyId, -quota);
      add(this.spent, `${apiKeyId}:${new Date(at).toISOString().slice(0, 10)}`, quota);
    }
    this.charged += quota;
  }

  wallets(): Figures {
    return ofWallets(this.owned);
  }

  figures(): Figures {
    const reserved = new Map<UserId, bigint>();
    for (const { user, quota } of this.reserved.values()) add(reserved, user, quota);
    const figures: Figures = new Map<string, bigint>([
      ['grants', -this.granted],
      ['adjustments', -this.adjusted],
      ['codes', -this.redeemed],
      ['revenue', this.charged - this.suspense],
      ['suspense', this.suspense],
      ['payments', -this.bought],
    ]);
    for (const [user, quota] of this.owned) {
      figures.set(availableOf(user), quota - (reserved.get(user) ?? 0n));
      figures.set(reservedOf(user), reserved.get(user) ?? 0n);
    }
    for (const [user, quota] of this.invites) figures.set(invitesOf(user), quota);
    for (const [id, balance] of this.apiKeys) figures.set(`apikey:${id}`, balance);
    for (const [keyAndDay, quota] of this.spent) figures.set(`apikey:${keyAndDay}`, quota);
    for (const [callId, { quota }] of this.reserved) figures.set(`call:${callId}`, quota);
    return figures;
  }
}
