import { describe, expect, test } from 'vitest';
import { Books } from '../../torture/checker/books.js';
import {
  type CallsToCheck,
  checkCalls,
  checkCredits,
  type EarlierCalls,
  remember,
  type ToldCall,
} from '../../torture/checker/check-calls.js';
import type { RawEvent } from '../../torture/checker/raw-events.js';

/* The checker of the torture, which must find what it is there to find: each fault is planted. */

const facts = [7, 12, 'ci', 'default', 'm', '/v1/chat/completions', 0];
const price = ['300', {}, '1'];
const reservedOf = (quota: number) => ({ type: 'CallReserved', data: [facts, quota, 10, 32, price] });
const reserved = reservedOf(5_000);
const settled = (charged: number, uncovered = 0) => ({
  type: 'CallSettled',
  data: [facts, 5_000, charged, { i: 10 }, 0, price, 0, 3, [3], 12, 0, null, null, uncovered],
});
const released = { type: 'CallReleased', data: [facts, 5_000, 'upstream-failed', 502, 'x', [3], 9] };
const refunded = (charged: number) => ({
  type: 'CallRefunded',
  data: { facts: { userId: 7, apiKeyId: 12, model: 'm' }, settlement: { charged }, suspense: charged },
});

/** By the names of calls: what the log has of them. */
type Calls = Readonly<Record<string, readonly { readonly type: string; readonly data: unknown }[] | undefined>>;

/** A user with so much, and these calls. */
function booksOf(granted: number, calls: Calls) {
  const terms = { unlimited: true };
  const events: Omit<RawEvent, 'position'>[] = [
    { stream: 'user-7', revision: 0, type: 'QuotaGranted', data: { quota: granted } },
    { stream: 'apikey-12', revision: 0, type: 'ApiKeyIssued', data: { owner: 7, quota: 0, terms } },
  ];
  for (const [id, story] of Object.entries(calls))
    for (const [revision, event] of (story ?? []).entries()) events.push({ stream: `call-${id}`, revision, ...event });
  const books = new Books();
  const problems = books.fold(events.map((event, index) => ({ ...event, position: BigInt(index) })));
  return { books, problems };
}

const told = (changed: Partial<ToldCall> = {}): ToldCall => ({
  ...{ model: 'm', outcome: 'ok', status: 200, requestId: 'a', cost: 3_000n },
  ...changed,
});

const checked = (calls: Calls, changed: Partial<CallsToCheck> = {}): readonly string[] => {
  const { books } = booksOf(100_000, calls);
  const usual = { told: [told()], arrivals: { m: 1 }, killed: false, earlier: new Map() };
  return checkCalls({ ...usual, stories: books.calls, ...changed }).problems;
};

/** What is found when these come into the log cycles after a call that was told so, and had these then. */
function checkedLater(before: ToldCall, { first = {}, late }: { readonly first?: Calls; readonly late: Calls }) {
  const earlier: EarlierCalls = new Map();
  const arrivals = { m: before.outcome === 'ok' ? 1 : 0 };
  remember(earlier, { told: [before], stories: booksOf(100_000, first).books.calls, arrivals });
  return checked(late, { told: [told({ model: 'another', outcome: 'unknown' })], arrivals: {}, earlier });
}

describe('the checker of the torture', () => {
  test('finds nothing in a complete answer that is charged once at its cost', () =>
    expect(checked({ a: [reserved, settled(3_000)] })).toEqual([]));

  test.each([
    { _name: 'that is released', calls: { a: [reserved, released] }, found: 'is not charged' },
    { _name: 'that is taken back', calls: { a: [reserved, settled(3_000), refunded(3_000)] }, found: 'is not charged' },
    { _name: 'that is in no log', calls: {}, found: 'is in no log' },
    { _name: 'that is charged twice', calls: { a: [reserved, settled(3_000), settled(3_000)] }, found: '2 times' },
    {
      _name: 'that is reserved under two names',
      calls: { a: [reserved, settled(3_000)], b: [reserved, released] },
      found: 'reserved 2 times',
    },
    { _name: 'that is charged by another figure', calls: { a: [reserved, settled(2_999)] }, found: '2999 is booked' },
    { _name: 'that the log calls otherwise', calls: { b: [reserved, settled(3_000)] }, found: 'was called a' },
  ])('finds a complete answer $_name', ({ calls, found }) =>
    expect(checked(calls)).toEqual(expect.arrayContaining([expect.stringContaining(found)])),
  );

  test('finds a call without an outcome, and one that was never sent and is charged', () => {
    expect(checked({ a: [reserved] }, { told: [] })).toEqual([expect.stringContaining('has 0 outcomes')]);
    expect(checked({ a: [reserved, settled(1)] }, { told: [], arrivals: {} })).toEqual([
      expect.stringContaining('never been asked'),
    ]);
    expect(checked({}, { told: [], arrivals: { m: 1 } })).toEqual([expect.stringContaining('without a reservation')]);
  });

  test('takes a reservation that comes cycles later for that of its own call, and finds a second one', () => {
    const refused = told({ outcome: 'fail', status: 503, requestId: null, cost: null });
    expect(checkedLater(refused, { late: { b: [reserved, released] } })).toEqual([]);
    const found = (...texts: string[]) => texts.map((text) => expect.stringContaining(text));
    expect(checkedLater(refused, { late: { b: [reserved, released], c: [reserved, released] } })).toEqual(
      found('reserved 2 times: c'),
    );
    expect(
      checkedLater(told(), { first: { a: [reserved, settled(3_000)] }, late: { b: [reserved, released] } }),
    ).toEqual(found('reserved 2 times: b', 'was called a'));
    expect(checkedLater(refused, { late: { b: [reserved, settled(3_000)] } })).toEqual(
      found('has never been asked', 'is charged: b'),
    );
    expect(checkedLater(refused, { late: { b: [reserved] } })).toEqual(found('has 0 outcomes'));
  });

  test('finds a failed answer that is charged, but for one withheld as its process died', () => {
    const failed = [told({ outcome: 'fail', status: 503, cost: null })];
    expect(checked({ a: [reserved, settled(3_000)] }, { told: failed })).toEqual([
      expect.stringContaining('was answered 503'),
    ]);
    expect(checked({ a: [reserved, settled(3_000)] }, { told: failed, killed: true })).toEqual([]);
    expect(checked({ a: [reserved, settled(3_000), refunded(3_000)] }, { told: failed })).toEqual([]);
  });

  test('finds an allowance below nothing, unless it was recovery that has charged it', () => {
    const issued = { owner: 7, quota: 2_000, terms: { unlimited: false } };
    const charging = (outcome: number) => {
      const [, , , usage, ...rest] = settled(3_000).data;
      const data = [facts, 2_000, 3_000, usage, rest[0], rest[1], outcome, 3, [3], 12];
      return new Books().fold([
        { position: 0n, stream: 'user-7', revision: 0, type: 'QuotaGranted', data: { quota: 9_000 } },
        { position: 1n, stream: 'apikey-12', revision: 0, type: 'ApiKeyIssued', data: issued },
        { position: 2n, stream: 'call-a', revision: 0, ...reservedOf(2_000) },
        { position: 3n, stream: 'call-a', revision: 1, type: 'CallSettled', data },
      ]);
    };
    expect(charging(0)).toEqual(['the allowance of API key 12 is -1000 at 3']);
    expect(charging(5)).toEqual([]);
  });

  test('forgives a recovered call what it has overdrawn, and nothing that others charge beyond it', () => {
    const issued = { owner: 7, quota: 5_000, terms: { unlimited: false } };
    const [, , , usage, ...rest] = settled(1_000).data;
    const recovered = [facts, 5_000, 1_000, usage, rest[0], rest[1], 5, 3, [3], 12];
    const problems = new Books().fold([
      { position: 0n, stream: 'user-7', revision: 0, type: 'QuotaGranted', data: { quota: 90_000 } },
      { position: 1n, stream: 'apikey-12', revision: 0, type: 'ApiKeyIssued', data: issued },
      { position: 2n, stream: 'call-a', revision: 0, ...reserved },
      { position: 3n, stream: 'call-a', revision: 1, type: 'CallSettled', data: recovered },
      { position: 4n, stream: 'call-b', revision: 0, ...reservedOf(4_000) },
      { position: 5n, stream: 'call-b', revision: 1, ...settled(4_500) },
    ]);
    expect(problems).toEqual(['the allowance of API key 12 is -500 at 5']);
  });

  test('finds a balance below nothing and a gap in a stream', () => {
    expect(booksOf(2_000, { a: [reservedOf(2_000), settled(3_000)] }).problems).toEqual([
      'the balance of user 7 is -1000 at 3',
    ]);
    const books = new Books();
    const data = { quota: 1 };
    expect(books.fold([{ position: 0n, stream: 'user-7', revision: 1, type: 'QuotaGranted', data }])).toEqual([
      'user-7 goes from revision -1 to 1 at 0',
    ]);
  });

  test('finds what is reserved twice, of a user and of a key with a limit', () => {
    const two = { a: [reserved], b: [reserved] };
    expect(booksOf(10_000, two).problems).toEqual([]);
    expect(booksOf(8_000, two).problems).toEqual(['user 7 has reserved 2000 more than was free at 3']);
    const issued = { owner: 7, quota: 5_000, terms: { unlimited: false } };
    const byKey = new Books().fold([
      { position: 0n, stream: 'user-7', revision: 0, type: 'QuotaGranted', data: { quota: 90_000 } },
      { position: 1n, stream: 'apikey-12', revision: 0, type: 'ApiKeyIssued', data: issued },
      { position: 2n, stream: 'call-a', revision: 0, ...reserved },
      { position: 3n, stream: 'call-b', revision: 0, ...reserved },
    ]);
    expect(byKey).toEqual(['API key 12 has reserved 5000 more than was free at 3']);
  });

  test('forgives a reservation, and a reserved cost that is not covered, what a call that cost more has taken, and no more', () => {
    const costly = { a: [reserved, settled(8_000)] };
    expect(booksOf(10_000, { ...costly, b: [reserved] }).problems).toEqual([]);
    expect(booksOf(10_000, { ...costly, b: [reserved, settled(2_000, 3_000)] }).problems).toEqual([]);
    expect(booksOf(9_000, { ...costly, b: [reserved] }).problems).toEqual([
      'user 7 has reserved 1000 more than was free at 4',
    ]);
    expect(booksOf(10_000, { b: [reserved, settled(2_000, 3_000)] }).problems).toEqual([
      '3000 of what user 7 has used within reservations is not covered',
    ]);
  });

  test('finds credits that are missing, made twice, or given to another user', () => {
    const credit = { user: 7, quota: 5n };
    const told = { stream: 'redemption-1', user: 7, acknowledged: true, quota: 5n };
    const problems = (...credits: { user: number; quota: bigint }[]) =>
      checkCredits([told], new Map([[told.stream, credits]]));
    expect(problems(credit)).toEqual([]);
    expect(problems()).toEqual([expect.stringContaining('is in no log')]);
    expect(problems(credit, credit)).toEqual([expect.stringContaining('credited 2 times')]);
    expect(problems({ ...credit, user: 8 })).toEqual([expect.stringContaining('user 8 instead of 7')]);
  });
});
