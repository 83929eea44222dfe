import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CallFacts } from '../../../src/domain/call/call.js';
import type { DomainEvent, StreamName } from '../../../src/domain/events/events.js';
import { ApiKeyId, ChannelId, RepairId, UserId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import { type Movement, movementsOf, readableMovementsOf } from '../../../src/domain/ledger/movements.js';

const amount = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }).map((raw) => Quota(raw));
const signed = fc.maxSafeInteger().map((raw) => Quota(raw));
const usage = { input: 1, output: 1 };

const facts: fc.Arbitrary<CallFacts> = fc.option(fc.constant(ApiKeyId(9)), { nil: null }).map((apiKeyId) => ({
  userId: UserId(7),
  apiKeyId,
  apiKeyName: 'key',
  group: 'default',
  model: 'gpt-4o',
  path: '/v1/chat/completions',
  stream: false,
}));

const price = { per: 'call', quota: 1 } as never;

const settled = (
  facts: CallFacts,
  reserved: Quota,
  charged: Quota,
  uncovered: Quota,
  suspense: Quota,
): DomainEvent => ({
  ...{ type: 'CallSettled', facts, reserved, charged, uncovered, usage, usageSource: 'upstream', price },
  ...{ outcome: 'completed', channelId: ChannelId(1), attempts: [ChannelId(1)], upstreamModel: null },
  ...{ useTimeMs: 1, firstTokenMs: null, reasoningEffort: null, suspense },
});

const refunded = (facts: CallFacts, charged: Quota, suspense: Quota): DomainEvent => ({
  ...{ type: 'CallRefunded', facts, status: 503, code: 'store_unavailable', useTimeMs: 1, suspense },
  settlement: {
    ...{
      eventId: 'e',
      at: Instant(1),
      charged,
      usage,
      channelId: ChannelId(1),
      attempts: [ChannelId(1)],
      useTimeMs: 1,
    },
  },
});

const corrected = (facts: CallFacts, [charged, uncovered, then, left]: Quota[]): DomainEvent =>
  ({
    ...{ type: 'CallCorrected', facts, repair: RepairId('0'.repeat(24)), part: 'post', price },
    settlement: { eventId: 'e', position: 1, at: Instant(1), channelId: ChannelId(1) },
    ...{ from: { charged, uncovered }, to: { charged: then, uncovered: left } },
  }) as DomainEvent;

const released = (facts: CallFacts, reserved: Quota, suspense: Quota): DomainEvent => ({
  ...{ type: 'CallReleased', facts, reserved, reason: 'upstream-failed', status: 500, code: 'x', attempts: [] },
  ...{ useTimeMs: 1, suspense },
});

const reserved = (facts: CallFacts, reserved: Quota): DomainEvent => ({
  ...{ type: 'CallReserved', facts, reserved, promptTokens: 1, maxOutputTokens: 1, price },
});

const toppedUp = (
  type: 'TopUpCompleted' | 'TopUpRefunded' | 'TopUpDisputed' | 'TopUpDisputeWon',
  quota: Quota,
): DomainEvent => ({ type, user: UserId(7), quota }) as DomainEvent;

const events: fc.Arbitrary<DomainEvent> = fc.oneof(
  amount.map((quota): DomainEvent => ({ type: 'QuotaGranted', quota, reason: 'admin' as never })),
  fc
    .tuple(signed, signed)
    .map(([delta, gift]): DomainEvent => ({ type: 'QuotaAdjusted', delta, gift, by: UserId(1), observed: Quota(0) })),
  amount.map((quota): DomainEvent => ({ type: 'RedemptionCodeRedeemed', user: UserId(7), quota })),
  amount.map((quota): DomainEvent => ({ type: 'InviteRewardEarned', quota, invitee: UserId(8) })),
  amount.map((quota): DomainEvent => ({ type: 'InviteRewardTransferred', quota })),
  fc.tuple(facts, amount).map(([facts, quota]) => reserved(facts, quota)),
  fc.tuple(facts, amount, amount, amount, amount).map((parts) => settled(...parts)),
  fc.tuple(facts, amount, amount).map((parts) => released(...parts)),
  fc.tuple(facts, amount, amount).map((parts) => refunded(...parts)),
  fc.tuple(facts, fc.tuple(amount, amount, amount, amount)).map((parts) => corrected(...parts)),
  fc
    .tuple(fc.constantFrom('TopUpCompleted', 'TopUpRefunded', 'TopUpDisputed', 'TopUpDisputeWon'), amount)
    .map((parts) => toppedUp(...parts)),
);

const movedBy = (event: DomainEvent): readonly Movement[] => movementsOf({ event, stream: 'user-7' as StreamName });

/** `owner part` → amount, over all movements of an event. */
const sums = (event: DomainEvent): Record<string, bigint> => {
  const found: Record<string, bigint> = {};
  for (const posting of movedBy(event).flatMap(({ postings }) => postings)) {
    const part = 'part' in posting ? posting.part : 'invites';
    const account = posting.owner === 'house' ? part : `${posting.owner} ${posting.id} ${part}`;
    found[account] = (found[account] ?? 0n) + posting.amount;
  }
  return found;
};

const caller = fc.sample(facts, 20).find(({ apiKeyId }) => apiKeyId !== null) as CallFacts;

describe('the movements of an event', () => {
  test('each debit one account and credit another: all sum to zero, except for the memorandum accounts of API keys', () => {
    fc.assert(
      fc.property(events, (event) => {
        for (const { postings } of movedBy(event)) {
          const sum = postings.reduce((sum, { owner, amount }) => (owner === 'api-key' ? sum : sum + amount), 0n);
          expect(sum).toBe(0n);
        }
      }),
    );
  });

  test('concern the wallet of a call and its API key alike', () => {
    fc.assert(
      fc.property(events, (event) => {
        if (!('facts' in event)) return;
        const found = sums(event);
        for (const part of ['available', 'reserved'])
          expect(found[`api-key 9 ${part}`]).toBe(event.facts.apiKeyId === null ? undefined : found[`user 7 ${part}`]);
      }),
    );
  });

  test.each<[string, DomainEvent, Record<string, bigint>]>([
    [
      'a reward for inviting is credited, but cannot be spent',
      { type: 'InviteRewardEarned', quota: Quota(50), invitee: UserId(8) },
      { 'inviter 7 invites': 50n, grants: -50n },
    ],
    [
      'a transfer of a reward makes it spendable',
      { type: 'InviteRewardTransferred', quota: Quota(30) },
      { 'user 7 available': 30n, 'inviter 7 invites': -30n },
    ],
    [
      'a reservation only reserves',
      reserved(caller, Quota(100)),
      { 'user 7 available': -100n, 'user 7 reserved': 100n, 'api-key 9 available': -100n, 'api-key 9 reserved': 100n },
    ],
    [
      'a settlement releases the rest of the reservation, and books uncovered cost to suspense',
      settled(caller, Quota(100), Quota(60), Quota(3), Quota(4)),
      {
        ...{
          'user 7 reserved': -100n,
          'user 7 available': 40n,
          'api-key 9 reserved': -100n,
          'api-key 9 available': 40n,
        },
        ...{ revenue: 53n, suspense: 7n },
      },
    ],
    [
      'a refund returns the charge and books the work to suspense',
      refunded(caller, Quota(60), Quota(60)),
      { 'user 7 available': 60n, 'api-key 9 available': 60n, suspense: 60n, revenue: -120n },
    ],
    [
      'a gift inside an adjustment is a grant',
      { type: 'QuotaAdjusted', delta: Quota(10), gift: Quota(4), by: UserId(1), observed: Quota(0) },
      { 'user 7 available': 10n, adjustments: -6n, grants: -4n },
    ],
    [
      'a redeemed code credits its redeemer',
      { type: 'RedemptionCodeRedeemed', user: UserId(8), quota: Quota(500) },
      { 'user 8 available': 500n, codes: -500n },
    ],
    [
      'a grant credits its user',
      { type: 'QuotaGranted', quota: Quota(90), reason: 'signup' },
      { 'user 7 available': 90n, grants: -90n },
    ],
    [
      'a completed top-up credits its payer',
      toppedUp('TopUpCompleted', Quota(700)),
      { 'user 7 available': 700n, payments: -700n },
    ],
    [
      'a refunded top-up debits its payer',
      toppedUp('TopUpRefunded', Quota(200)),
      { 'user 7 available': -200n, payments: 200n },
    ],
    [
      'a disputed top-up debits its payer',
      toppedUp('TopUpDisputed', Quota(500)),
      { 'user 7 available': -500n, payments: 500n },
    ],
    [
      'a won dispute credits the payer again',
      toppedUp('TopUpDisputeWon', Quota(500)),
      { 'user 7 available': 500n, payments: -500n },
    ],
    [
      'a release returns the reservation, and books unknown attempts to suspense',
      released(caller, Quota(100), Quota(8)),
      {
        'user 7 available': 100n,
        'user 7 reserved': -100n,
        'api-key 9 available': 100n,
        'api-key 9 reserved': -100n,
        suspense: 8n,
        revenue: -8n,
      },
    ],
    ['a change of name moves nothing', { type: 'UserDisabled', by: UserId(1) } as never, {}],
  ])('%s', (_, event, expected) => {
    expect(sums(event)).toEqual(expected);
  });

  test('are empty for a reader that must continue, where an event was damaged', () => {
    const damaged = { event: { type: 'ApiKeyIssued' } as DomainEvent, stream: 'apikey-9' as StreamName };
    expect(() => movementsOf(damaged)).toThrow();
    expect(readableMovementsOf(damaged)).toEqual([]);
  });
});
