import { describe, expect, test } from 'vitest';
import { type Call, type CallEvent, type CallReserved, callDecider } from '../../../src/domain/call/call.js';
import { type Conclusion, conclude } from '../../../src/domain/call/call-conclusion.js';
import { sessionCallId, sessionPartOf } from '../../../src/domain/call/call-session.js';
import { streams } from '../../../src/domain/events/events.js';
import { CallId, isCallId } from '../../../src/domain/kernel/ids.js';
import { Quota, zero } from '../../../src/domain/kernel/quota.js';
import { movementsOf } from '../../../src/domain/ledger/movements.js';
import { reserved } from '../../support/given/calls.js';
import { settlementOf } from '../../support/given/metering.js';

const session = CallId('20261128060000123abcdEFGH');

describe('the parts of a call session', () => {
  test('have names of their own; the first is named as the session, so that a call is a session of one part', () => {
    expect([0, 1, 12].map((part) => sessionCallId(session, part))).toEqual([session, `${session}-1`, `${session}-12`]);
  });

  test('are found again by their names, which are names of calls', () => {
    for (const part of [0, 1, 9, 10, 999_999]) {
      const callId = sessionCallId(session, part);
      expect(isCallId(callId)).toBe(true);
      expect(sessionPartOf(callId)).toEqual({ session, part });
    }
    expect(sessionPartOf(CallId('a-0'))).toEqual({ session: 'a-0', part: 0 });
  });
});

const given = (...events: readonly CallEvent[]) =>
  events.reduce<Call>((call, event) => callDecider.evolve(call, event), callDecider.initial);
const cost = Quota(60);
const delivered: Conclusion = { kind: 'settled', settlement: settlementOf(60), cost, payable: cost };

describe('given two reserved parts without an outcome, because the process died between the two', () => {
  const [first, next]: readonly [CallReserved, CallReserved] = [reserved({ quota: 100 }), reserved({ quota: 200 })];

  test('when each is recovered by what is known of it, then the first is charged and the next one released', () => {
    const progress = { attempts: [settlementOf(0).channelId], unknownAttempts: 0, upstreamModel: null };
    const seen = { kind: 'sent', progress: { ...progress, delivered: { firstTokenMs: 5, outputTokens: 20 } } } as const;
    const outcomes = [
      conclude(first, { kind: 'lost', seen, useTimeMs: 10, payable: Quota(1_000) }),
      conclude(next, { kind: 'lost', seen: { kind: 'not-sent' }, useTimeMs: 10, payable: zero }),
    ];
    expect(outcomes).toMatchObject([
      { type: 'CallSettled', outcome: 'gateway-failed', reserved: 100 },
      { type: 'CallReleased', reason: 'recovered', reserved: 200, suspense: 0 },
    ]);
    for (const [part, outcome] of outcomes.entries()) {
      const stream = streams.call(sessionCallId(session, part));
      const postings = movementsOf({ event: outcome, stream } as never).flatMap(({ postings }) => postings);
      const accounts = postings.filter(({ owner }) => owner !== 'api-key');
      expect(accounts.length).toBeGreaterThan(1);
      expect(accounts.reduce((sum, { amount }) => sum + amount, 0n)).toBe(0n);
    }
  });

  test('when the first is settled already, then another settlement changes nothing, and the next is a call of its own', () => {
    const settled = conclude(first, { ...delivered });
    if (settled.type !== 'CallSettled') throw new Error('not settled');
    expect(callDecider.decide({ type: 'Settle', event: settled }, given(first, settled))).toEqual([]);
    expect(callDecider.decide({ type: 'Settle', event: settled }, given(next))).toEqual([settled]);
  });
});
