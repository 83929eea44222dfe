import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CallEvent, callDecider } from '../../../src/domain/call/call.js';
import {
  type CallCorrected,
  type CorrectionCommand,
  chargeBefore,
  correctionDecider,
  maxCorrections,
} from '../../../src/domain/call/call-correction.js';
import { ChannelId, RepairId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import { factsOf, plainPrice, refunded, released, reserved, settled } from '../../support/given/calls.js';
import { scenariosOf } from '../../support/given/given.js';

const given = scenariosOf(correctionDecider);
const first = RepairId('0123456789abcdef01234567');
const second = RepairId('89abcdef0123456789abcdef');
const half = { ...plainPrice, model: '0.5' };
const settlement = { eventId: 'e', position: 4, at: Instant(1_800_000_000_000), channelId: ChannelId(3) };

const shares = (charged: number, uncovered = 0) => ({ charged: Quota(charged), uncovered: Quota(uncovered) });

const correct = (repair: RepairId, from: readonly [number, number?], cost: number, payable = 0): CorrectionCommand => ({
  ...{ type: 'Correct', repair, settlement, from: shares(...from), price: half },
  ...{ cost: Quota(cost), payable: Quota(payable) },
});

const corrected = (
  repair: RepairId,
  from: readonly [number, number?],
  to: readonly [number, number?],
  change: Partial<CallCorrected> = {},
): CallCorrected => ({
  ...{ type: 'CallCorrected', facts: factsOf(), settlement, repair, part: 'post', price: half },
  ...{ from: shares(...from), to: shares(...to), ...change },
});

const undo = (repair: RepairId, payable = 0): CorrectionCommand => ({ type: 'Undo', repair, payable: Quota(payable) });

const reservation = reserved({ quota: 100 });
const paid = [reservation, settled({ quota: 100, charged: 60 })];
const partlyPaid = [reservation, settled({ quota: 100, charged: 60, uncovered: 40 })];

interface Case {
  readonly _name: string;
  readonly before: readonly CallEvent[];
  readonly from: readonly [number, number?];
  readonly cost: number;
  readonly payable?: number;
  readonly to: readonly [number, number?];
}

describe('the charge of a call', () => {
  test.each<Case>([
    { _name: 'goes down to the right cost', before: paid, from: [60], cost: 30, to: [30] },
    { _name: 'goes up as far as its payers can pay', before: paid, from: [60], cost: 90, payable: 20, to: [80, 10] },
    {
      _name: 'stays where nobody can pay more, and its cost is uncovered',
      before: paid,
      from: [60],
      cost: 90,
      to: [60, 30],
    },
    {
      _name: 'stays where what nobody owes is all that was too much',
      before: partlyPaid,
      from: [60, 40],
      cost: 80,
      to: [60, 20],
    },
    { _name: 'goes down where it was covered in part', before: partlyPaid, from: [60, 40], cost: 50, to: [50] },
    {
      ...{ _name: 'goes up by the difference alone, and not by what could not be paid then' },
      ...{ before: partlyPaid, from: [60, 40], cost: 110, payable: 500, to: [70, 40] },
    },
  ])('$_name', ({ before, from, cost, payable, to }) => {
    given(...before)
      .when(correct(first, from, cost, payable))
      .thenRecordedOnce(corrected(first, from, to));
  });

  test('is corrected by another repair from where the first one left it', () => {
    const left = [...paid, corrected(first, [60], [30])];
    given(...left)
      .when(correct(second, [30], 45, 15))
      .thenRecordedOnce(corrected(second, [30], [45]));
    given(...left)
      .when(correct(second, [60], 45))
      .thenNothing();
  });

  test('stays where a call is not settled, was released or refunded, or corrected too often', () => {
    const order = correct(first, [60], 30);
    given(reservation).when(order).thenNothing();
    given(reservation, released({ quota: 100 }))
      .when(order)
      .thenNothing();
    given(...paid, refunded({ charged: 60 }))
      .when(order)
      .thenNothing();
    const often = Array.from({ length: maxCorrections }, (_, n) =>
      corrected(RepairId(String(n).padStart(24, '0')), [60], [60]),
    );
    given(...paid, ...often)
      .when(order)
      .thenNothing();
    given(...paid, ...often.slice(1))
      .when(order)
      .thenRecordedOnce(corrected(first, [60], [30]));
  });

  test('comes back to what it was, once, with the price that it had', () => {
    const back = corrected(first, [30], [60], { part: 'undo', price: plainPrice });
    given(...paid, corrected(first, [60], [30]))
      .when(undo(first, 100))
      .thenRecordedOnce(back);
    given(...paid, corrected(first, [60], [30]), back)
      .when(undo(first, 100))
      .thenNothing();
  });

  test('comes back only as far as its payers have it, and the rest is uncovered', () =>
    given(...paid, corrected(first, [60], [30]))
      .when(undo(first, 10))
      .thenRecordedOnce(corrected(first, [30], [40, 20], { part: 'undo', price: plainPrice })));

  test('does not come back under a later correction, and does once that is undone', () => {
    const both = [...paid, corrected(first, [60], [30]), corrected(second, [30], [45])];
    given(...both)
      .when(undo(first, 100))
      .thenNothing();
    given(...both, corrected(second, [45], [30], { part: 'undo' }))
      .when(undo(first, 100))
      .thenRecordedOnce(corrected(first, [30], [60], { part: 'undo', price: plainPrice }));
  });

  test('is what it was after any repair and its undo, where there is enough to pay with', () => {
    const amount = fc.integer({ min: 0, max: 10 ** 12 });
    fc.assert(
      fc.property(amount, amount, amount, (charged, uncovered, cost) => {
        const begin: CallEvent[] = [reservation, settled({ quota: 100, charged, uncovered })];
        const stateOf = (events: readonly CallEvent[]) =>
          events.reduce((state, event) => correctionDecider.evolve(state, event), correctionDecider.initial);
        const rich = 10 ** 13;
        const posted = correctionDecider.decide(correct(first, [charged, uncovered], cost, rich), stateOf(begin));
        const after = stateOf([...begin, ...(posted as CallEvent[])]);
        expect((after.standing?.charged ?? 0) + (after.standing?.uncovered ?? 0)).toBe(cost);
        expect(chargeBefore(after, first)).toBe(charged);
        const undone = correctionDecider.decide(undo(first, rich), after);
        const end = stateOf([...begin, ...(posted as CallEvent[]), ...(undone as CallEvent[])]);
        expect(end.standing).toEqual({ price: plainPrice, charged, uncovered });
      }),
    );
  });
});

test.each([
  { _name: 'and so does the house, where upstream may charge', suspense: 60, borne: 30 },
  { _name: 'and the house bears nothing, where upstream charges nothing', suspense: 0, borne: 0 },
])('a refund takes back what a call was corrected to, not what it was settled with, $_name', ({ suspense, borne }) => {
  const refund = { ...refunded({ charged: 60 }), suspense: Quota(suspense) };
  const settlement = { ...refund.settlement, charged: Quota(30) };
  const taken = { ...refund, settlement, suspense: Quota(borne) };
  scenariosOf(callDecider)(...paid, corrected(first, [60], [30]))
    .when({ type: 'Refund', event: refund })
    .thenRecordedOnce(taken);
});
