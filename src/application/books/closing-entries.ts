import { createHash } from 'node:crypto';
import { type Position, streams } from '../../domain/events/events.js';
import { ApiKeyId, ChannelId, UserId } from '../../domain/kernel/ids.js';
import type { BalancesRecorded, PeriodClosed } from '../../domain/ledger/closing.js';
import { LedgerFacts, type LedgerFactsState } from '../../projections/models/ledger/ledger-facts.js';
import type { EventStore } from '../ports/storage-ports.js';

/* What a closing says of the ledger, entry by entry, and the ledger out of it again. */

export type ClosingEntry = BalancesRecorded['balances'][number];
type Kind = BalancesRecorded['kind'];

/** Entries of one event: some fifty kilobytes. */
const entriesPerPart = 1_000;

/** By account, so that whoever works it out again comes to the same. */
const inOrder = (figures: Iterable<readonly [string, bigint]>): ClosingEntry[] =>
  [...figures].map(([account, amount]): ClosingEntry => [account, String(amount)]).sort(([a], [b]) => (a < b ? -1 : 1));

/** What API keys have spent by day, as far as it is not what is known. */
export function changedDays({ spent }: LedgerFactsState, known: ReadonlyMap<string, bigint>): readonly ClosingEntry[] {
  return inOrder(
    spent
      .filter(([keyAndDay, amount]) => known.get(keyAndDay) !== amount)
      .map(([keyAndDay, amount]) => [`apikey:${keyAndDay}`, amount] as const),
  );
}

/**
 * Every account: `user:7:available`, `revenue`, `apikey:3`, `channel:2`; and of each call without an outcome what is
 * reserved, `call:{id}:user:7`.
 */
export function balancesOf(facts: LedgerFacts): readonly ClosingEntry[] {
  const { channels, reserved } = facts.state();
  return inOrder([
    ...facts.balances(),
    ...channels.map(([id, amount]) => [`channel:${id}`, amount] as const),
    ...reserved.map(([callId, { user, quota }]) => [`call:${callId}:user:${user}`, quota] as const),
  ]);
}

/** Of the accounts that are in the double entry. */
export const sumOf = (balances: readonly ClosingEntry[]): bigint =>
  balances.reduce(
    (sum, [account, amount]) => (/^(?:apikey|channel|call):/.test(account) ? sum : sum + BigInt(amount)),
    0n,
  );

/** SHA-256 over the entries as JSON, a line feed behind each. */
export class EntriesDigest {
  private readonly hash = createHash('sha256');
  entries = 0;

  add(entries: readonly ClosingEntry[]): this {
    for (const entry of entries) this.hash.update(`${JSON.stringify(entry)}\n`);
    this.entries += entries.length;
    return this;
  }

  digest(): string {
    return this.hash.digest('hex');
  }
}

/** The events that they are recorded as: days first. */
export function balanceParts(
  position: Position,
  entries: Readonly<Record<Kind, readonly ClosingEntry[]>>,
): readonly BalancesRecorded[] {
  const parts: BalancesRecorded[] = [];
  for (const kind of ['days', 'balances'] as const)
    for (let from = 0; from < entries[kind].length; from += entriesPerPart) {
      const balances = entries[kind].slice(from, from + entriesPerPart);
      parts.push({ type: 'BalancesRecorded', position, part: parts.length, kind, balances });
    }
  return parts;
}

/** The parts of a closing behind one of them, in order. */
export async function* recordedParts(
  store: Pick<EventStore, 'streamPages'>,
  position: Position,
  after = -1,
): AsyncGenerator<BalancesRecorded, void, undefined> {
  for await (const page of store.streamPages(streams.balances(position), after))
    for (const { event } of page) if (event.type === 'BalancesRecorded') yield event;
}

/** The balances that were recorded are not those that the books were closed with. */
export class ClosingDamaged extends Error {}

/** Reads what this closing says, and checks it. Throws ClosingDamaged. */
export async function checkedClosing(
  store: Pick<EventStore, 'streamPages'>,
  { period, position, parts, entries, digest }: PeriodClosed,
  each: (part: BalancesRecorded) => void = () => {},
): Promise<void> {
  const read = new EntriesDigest();
  let count = 0;
  for await (const part of recordedParts(store, position)) {
    read.add(part.balances);
    count += 1;
    each(part);
  }
  if (count !== parts || read.entries !== entries || read.digest() !== digest)
    throw new ClosingDamaged(`the balances at the end of ${period} are not those that its books were closed with`);
}

/** What API keys had spent by day at the end of the last of these closings, which are all up to there. */
export async function daysUpTo(
  store: Pick<EventStore, 'streamPages'>,
  closings: readonly PeriodClosed[],
): Promise<Map<string, bigint>> {
  const days = new Map<string, bigint>();
  for (const { position } of closings)
    for await (const part of recordedParts(store, position)) {
      if (part.kind !== 'days') break;
      for (const [account, amount] of part.balances) days.set(account.slice('apikey:'.length), BigInt(amount));
    }
  return days;
}

/** The ledger at the end of the last of these closings. Throws ClosingDamaged. */
export async function ledgerAsClosed(
  store: Pick<EventStore, 'streamPages'>,
  closings: readonly PeriodClosed[],
): Promise<LedgerFacts> {
  const last = closings.at(-1);
  if (last === undefined) return new LedgerFacts();
  const days = await daysUpTo(store, closings);
  const state = new ClosedState();
  await checkedClosing(store, last, ({ kind, balances }) => {
    if (kind === 'balances') for (const [account, amount] of balances) state.take(account, BigInt(amount));
  });
  return LedgerFacts.of(state.with([...days]));
}

const house = ['grants', 'adjustments', 'codes', 'payments', 'revenue', 'suspense'] as const;

/** The state of the ledger out of its balances. */
class ClosedState {
  private readonly owned = new Map<UserId, bigint>();
  private readonly invites: [UserId, bigint][] = [];
  private readonly apiKeys: [ApiKeyId, bigint][] = [];
  private readonly channels: [ChannelId, bigint][] = [];
  private readonly reserved: [string, { user: UserId; quota: bigint }][] = [];
  private readonly house = { grants: 0n, adjustments: 0n, codes: 0n, payments: 0n, revenue: 0n, suspense: 0n };

  take(account: string, amount: bigint): void {
    const [kind = '', id = '', part, user] = account.split(':');
    const own = house.find((name) => name === account);
    if (own !== undefined) this.house[own] = amount;
    else if (kind === 'user' && part === 'invites') this.invites.push([userOf(id), amount]);
    else if (kind === 'user') this.owned.set(userOf(id), (this.owned.get(userOf(id)) ?? 0n) + amount);
    else if (kind === 'apikey') this.apiKeys.push([ApiKeyId(Number(id)), amount]);
    else if (kind === 'channel') this.channels.push([ChannelId(Number(id)), amount]);
    else if (kind === 'call') this.reserved.push([id, { user: userOf(user), quota: amount }]);
    else throw new ClosingDamaged(`no account is called ${account}`);
  }

  with(spent: LedgerFactsState['spent']): LedgerFactsState {
    const { grants, adjustments, codes, payments, revenue, suspense } = this.house;
    const { invites, apiKeys, channels, reserved } = this;
    return {
      ...{ owned: [...this.owned], invites, apiKeys, channels, spent, reserved },
      ...{ granted: -grants, adjusted: -adjustments, redeemed: -codes, bought: -payments },
      ...{ charged: revenue + suspense, suspense },
    };
  }
}

const userOf = (id: string | undefined): UserId => UserId(Number(id));
