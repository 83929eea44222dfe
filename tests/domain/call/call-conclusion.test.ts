import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CallReleased, CallReserved, CallSettled } from '../../../src/domain/call/call.js';
import {
  type Conclusion,
  chargeWithin,
  conclude,
  costOfLost,
  refundOf,
  type Settlement,
} from '../../../src/domain/call/call-conclusion.js';
import type { CallProgress, LastSeen } from '../../../src/domain/call/call-progress.js';
import { streams } from '../../../src/domain/events/events.js';
import { CallId, ChannelId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import { movementsOf } from '../../../src/domain/ledger/movements.js';
import { chargeOf, maxCallPrice } from '../../../src/domain/pricing/pricing.js';
import { factsOf, plainPrice, reserved } from '../../support/given/calls.js';

const reservation: CallReserved = reserved({ quota: 100 });
const west = ChannelId(2);
const east = ChannelId(3);
const failedAttempts = [{ channelId: west, status: 500, code: 'server_error', durationMs: 40 }];

const settlement: Settlement = {
  usage: { input: 60 },
  usageSource: 'upstream',
  outcome: 'completed',
  channelId: east,
  attempts: [west, east],
  failedAttempts,
  upstreamModel: 'mapped',
  useTimeMs: 900,
  firstTokenMs: 120,
  reasoningEffort: 'high',
  unknownAttempts: 0,
};
const settledEvent: CallSettled = {
  type: 'CallSettled',
  facts: factsOf(),
  reserved: Quota(100),
  charged: Quota(60),
  usage: { input: 60 },
  price: plainPrice,
  usageSource: 'upstream',
  outcome: 'completed',
  channelId: east,
  attempts: [west, east],
  failedAttempts,
  kept: undefined,
  task: undefined,
  upstreamCost: undefined,
  answerId: undefined,
  claimed: undefined,
  upstreamModel: 'mapped',
  useTimeMs: 900,
  firstTokenMs: 120,
  reasoningEffort: 'high',
  uncovered: Quota(0),
  suspense: Quota(0),
};
const releasedEvent: CallReleased = {
  type: 'CallReleased',
  facts: factsOf(),
  reserved: Quota(100),
  reason: 'upstream-failed',
  status: null,
  code: null,
  attempts: [],
  failedAttempts: undefined,
  useTimeMs: 0,
  suspense: Quota(0),
};

const given = (reservation: CallReserved) => ({
  when: (conclusion: Conclusion) => ({
    thenSettled: (members: Partial<CallSettled> = {}) =>
      expect(conclude(reservation, conclusion)).toStrictEqual({ ...settledEvent, ...members }),
    thenReleased: (members: Partial<CallReleased>) =>
      expect(conclude(reservation, conclusion)).toStrictEqual({ ...releasedEvent, ...members }),
  }),
});

const settled = (cost: number, payable: number, members: Partial<Settlement> = {}): Conclusion => ({
  kind: 'settled',
  settlement: { ...settlement, ...members },
  cost: Quota(cost),
  payable: Quota(payable),
});

describe('a call concluded as settled', () => {
  test('is charged its cost where the available quota exceeds it', () =>
    given(reservation).when(settled(60, 1_000)).thenSettled());

  test('is charged its cost where the available quota equals it', () =>
    given(reservation).when(settled(60, 60)).thenSettled());

  test('is charged the available quota where that is less than its cost, and the rest is uncovered', () =>
    given(reservation)
      .when(settled(60, 59))
      .thenSettled({ charged: Quota(59), uncovered: Quota(1) }));

  test('is charged beyond its reservation where the available quota permits it', () =>
    given(reservation)
      .when(settled(250, 300))
      .thenSettled({ charged: Quota(250) }));

  test('is charged nothing where no quota is available: its whole cost is uncovered', () =>
    given(reservation)
      .when(settled(60, 0))
      .thenSettled({ charged: Quota(0), uncovered: Quota(60) }));

  test('is charged nothing, and credited nothing, where the available quota is negative', () =>
    given(reservation)
      .when(settled(60, -5))
      .thenSettled({ charged: Quota(0), uncovered: Quota(60) }));

  test('is charged nothing where it cost nothing', () =>
    given(reservation)
      .when(settled(0, 1_000, { usage: {} }))
      .thenSettled({ charged: Quota(0), usage: {} }));

  test('is charged the maximum cost of a call where all that quota is available', () =>
    given(reservation).when(settled(maxCallPrice, Number.MAX_SAFE_INTEGER)).thenSettled({ charged: maxCallPrice }));

  test('has one reservation in suspense for each attempt that may have cost upstream', () =>
    given(reservation)
      .when(settled(60, 1_000, { unknownAttempts: 3 }))
      .thenSettled({ suspense: Quota(300) }));

  test('has no more in suspense than the maximum amount', () =>
    given({ ...reservation, reserved: Quota(Number.MAX_SAFE_INTEGER) })
      .when(settled(60, 1_000, { unknownAttempts: 2 }))
      .thenSettled({ reserved: Quota(Number.MAX_SAFE_INTEGER), suspense: Quota(Number.MAX_SAFE_INTEGER) }));
});

describe('a call concluded without an answer', () => {
  const unanswered = { attempts: [west], failedAttempts, useTimeMs: 40, unknownAttempts: 1 };
  const course = { attempts: [west], failedAttempts, useTimeMs: 40, suspense: Quota(100) };

  test('whose upstream failed is released with the error that its caller received', () =>
    given(reservation)
      .when({ kind: 'upstream-failed', status: 502, code: 'upstream_error', ...unanswered })
      .thenReleased({ ...course, status: 502, code: 'upstream_error' }));

  test('whose caller has disconnected is released, without a reply', () =>
    given(reservation)
      .when({ kind: 'caller-left', ...unanswered })
      .thenReleased({ ...course, reason: 'caller-left' }));

  test('whose caller disconnected before any attempt costs nothing', () =>
    given(reservation)
      .when({ kind: 'caller-left', attempts: [], useTimeMs: 3, unknownAttempts: 0 })
      .thenReleased({ reason: 'caller-left', useTimeMs: 3 }));

  test('that failed internally is released, with the possible upstream charge in suspense', () =>
    given(reservation)
      .when({ kind: 'internal', useTimeMs: 7, unknownAttempts: 2 })
      .thenReleased({ reason: 'internal', useTimeMs: 7, suspense: Quota(200) }));

  test('that was never sent has nothing in suspense', () =>
    given(reservation)
      .when({ kind: 'never-sent', reason: 'internal', status: 503, code: 'store_unavailable' })
      .thenReleased({ reason: 'internal', status: 503, code: 'store_unavailable' }));
});

describe('a call whose answer was withheld', () => {
  const withdrawal = { status: 503, code: 'store_unavailable' };

  test('is released, with its whole cost in suspense', () =>
    given(reservation)
      .when({
        kind: 'withheld',
        settled: { ...settledEvent, charged: Quota(50), uncovered: Quota(10), suspense: Quota(200) },
        ...withdrawal,
      })
      .thenReleased({
        ...{ reason: 'not-booked', ...withdrawal, attempts: [west, east], failedAttempts, useTimeMs: 900 },
        suspense: Quota(260),
      }));

  test('has no more in suspense than the maximum amount', () =>
    given(reservation)
      .when({ kind: 'withheld', settled: { ...settledEvent, suspense: Quota(Number.MAX_SAFE_INTEGER) }, ...withdrawal })
      .thenReleased({
        ...{ reason: 'not-booked', ...withdrawal, attempts: [west, east], failedAttempts, useTimeMs: 900 },
        suspense: Quota(Number.MAX_SAFE_INTEGER),
      }));

  test('is refunded its charge where its settlement proves to be written', () => {
    const [id, at] = ['0195-settled', Instant(1_800_000_000_000)];
    const event = { ...settledEvent, charged: Quota(50), uncovered: Quota(10), suspense: Quota(200) };
    const { usage, channelId, attempts, useTimeMs } = settlement;
    expect(refundOf({ id, at, event }, withdrawal)).toStrictEqual({
      type: 'CallRefunded',
      facts: factsOf(),
      settlement: { eventId: id, at, charged: 50, usage, channelId, attempts, failedAttempts, useTimeMs },
      ...withdrawal,
      useTimeMs,
      suspense: 50,
    });
  });
});

describe('a call that a crash has lost', () => {
  const progress: CallProgress = {
    attempts: [west, east],
    unknownAttempts: 1,
    upstreamModel: 'mapped',
    delivered: null,
  };
  const delivered = { firstTokenMs: 12, outputTokens: 40 };
  const lost = (seen: LastSeen, payable = 0): Conclusion => ({
    kind: 'lost',
    seen,
    useTimeMs: 5_000,
    payable: Quota(payable),
  });
  const released = { reason: 'recovered', useTimeMs: 5_000 } as const;

  test('before it was sent is released, and has nothing in suspense', () =>
    given(reservation)
      .when(lost({ kind: 'not-sent' }))
      .thenReleased(released));

  test('at an unknown stage is released, with one reservation in suspense', () =>
    given(reservation)
      .when(lost({ kind: 'unknown' }))
      .thenReleased({ ...released, suspense: Quota(100) }));

  test('while the upstream worked is released, with a reservation in suspense for each attempt that may cost', () =>
    given(reservation)
      .when(lost({ kind: 'sent', progress }))
      .thenReleased({ ...released, attempts: [west, east], suspense: Quota(200) }));

  test('while its answer reached its caller is charged for that part, as far as quota is available', () => {
    const seen: LastSeen = { kind: 'sent', progress: { ...progress, delivered } };
    // 100 tokens of the prompt and 40 of the answer.
    expect(costOfLost(reservation, seen)).toBe(140);
    given(reservation)
      .when(lost(seen, 110))
      .thenSettled({
        ...{ charged: Quota(110), uncovered: Quota(30), suspense: Quota(100) },
        ...{ usage: { input: 100, output: 40 }, usageSource: 'estimated', outcome: 'gateway-failed' },
        ...{ failedAttempts: undefined, useTimeMs: 5_000, firstTokenMs: 12, reasoningEffort: null },
      });
  });

  test('while a speech reached its caller is charged for the characters that its reservation names', () => {
    const price = { ...plainPrice, model: '0', pieces: { dollars: { characters: '0.00001' }, quotaPerUnit: '500000' } };
    const speech: CallReserved = { ...reservation, promptTokens: 0, price, pieces: { characters: 12 } };
    const begun = { firstTokenMs: 12, outputTokens: 0 };
    expect(costOfLost(speech, { kind: 'sent', progress: { ...progress, delivered: begun } })).toBe(60);
  });

  test('of which no channel is known is released, whatever part is noted as delivered', () => {
    const seen: LastSeen = { kind: 'sent', progress: { ...progress, attempts: [], delivered } };
    expect(costOfLost(reservation, seen)).toBeNull();
    given(reservation)
      .when(lost(seen, 110))
      .thenReleased({ ...released, suspense: Quota(200) });
  });
});

describe('for every conclusion of a call', () => {
  const amount = fc.integer({ min: 0, max: maxCallPrice }).map((raw) => Quota(raw));
  const owned = fc.oneof(
    amount,
    fc.maxSafeInteger().map((raw) => Quota(raw)),
  );
  const attempts = fc.integer({ min: 0, max: 1_000 });
  const tokens = fc.integer({ min: 0, max: 10_000_000 });
  const usage = fc.record({ input: tokens, output: tokens });
  const reported = fc.record({ status: fc.constant(502), code: fc.constantFrom(null, 'upstream_error') });
  const unanswered = fc.record({
    attempts: fc.constantFrom([], [west]),
    useTimeMs: fc.nat(),
    unknownAttempts: attempts,
  });
  const delivered = fc.option(fc.record({ firstTokenMs: fc.nat(), outputTokens: tokens }), { nil: null });
  const seen: fc.Arbitrary<LastSeen> = fc.oneof(
    fc.constantFrom<LastSeen>({ kind: 'not-sent' }, { kind: 'unknown' }),
    fc.record({
      kind: fc.constant('sent' as const),
      progress: fc.record({
        attempts: fc.constantFrom([], [west], [west, east]),
        unknownAttempts: attempts,
        upstreamModel: fc.constant(null),
        delivered,
      }),
    }),
  );
  const settledConclusion = fc.tuple(usage, attempts, owned).map(
    ([usage, unknownAttempts, payable]): Conclusion => ({
      kind: 'settled',
      settlement: { ...settlement, usage, unknownAttempts },
      cost: chargeOf(usage, plainPrice),
      payable,
    }),
  );
  const conclusion: fc.Arbitrary<Conclusion> = fc.oneof(
    settledConclusion,
    fc
      .tuple(reported, unanswered)
      .map(([reported, rest]): Conclusion => ({ kind: 'upstream-failed', ...reported, ...rest })),
    unanswered.map((rest): Conclusion => ({ kind: 'caller-left', ...rest })),
    unanswered.map(({ useTimeMs, unknownAttempts }): Conclusion => ({ kind: 'internal', useTimeMs, unknownAttempts })),
    reported.map((reported): Conclusion => ({ kind: 'never-sent', reason: 'recovered', ...reported })),
    fc.tuple(amount, amount, amount).map(
      ([charged, uncovered, suspense]): Conclusion => ({
        kind: 'withheld',
        settled: { ...settledEvent, charged, uncovered, suspense },
        ...{ status: 503, code: 'store_unavailable' },
      }),
    ),
    fc
      .tuple(seen, fc.nat(), owned)
      .map(([seen, useTimeMs, payable]): Conclusion => ({ kind: 'lost', seen, useTimeMs, payable })),
  );
  const reservations = fc
    .tuple(amount, fc.constantFrom(null, 12))
    .map(([quota, apiKeyId]) => ({ ...reserved({ quota: 100, apiKeyId }), reserved: quota }));

  test('the charge is between zero and the available quota, and with the uncovered part equals the cost', () => {
    fc.assert(
      fc.property(reservations, settledConclusion, (reservation, conclusion) => {
        const event = conclude(reservation, conclusion);
        if (event.type !== 'CallSettled' || conclusion.kind !== 'settled') throw new Error(event.type);
        expect(event.charged).toBeGreaterThanOrEqual(0);
        expect(event.charged).toBeLessThanOrEqual(Math.max(conclusion.payable, 0));
        expect(event.charged + event.uncovered).toBe(chargeOf(event.usage, event.price));
      }),
    );
  });

  test('its postings, with those of its reservation, sum to zero and leave nothing reserved', () => {
    fc.assert(
      fc.property(reservations, conclusion, (reservation, conclusion) => {
        const stream = streams.call(CallId('c1'));
        const event = conclude(reservation, conclusion);
        let [sum, held] = [0n, 0n];
        for (const { postings } of [reservation, event].flatMap((event) => movementsOf({ event, stream })))
          for (const posting of postings) {
            if (posting.owner === 'user' && posting.part === 'reserved') held += posting.amount;
            if (posting.owner !== 'api-key') sum += posting.amount;
          }
        expect(sum).toBe(0n);
        expect(held).toBe(0n);
      }),
    );
  });
});

test('a charge within the available quota is the smaller of both', () => {
  expect(chargeWithin(Quota(5), Quota(6))).toBe(5);
  expect(chargeWithin(Quota(6), Quota(5))).toBe(5);
  expect(chargeWithin(Quota(0), Quota(0))).toBe(0);
});
