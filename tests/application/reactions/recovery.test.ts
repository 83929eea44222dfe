import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { handle } from '../../../src/application/handle.js';
import type { LeftCall } from '../../../src/application/ports/quota-gate-ports.js';
import { type Recovered, recoverCalls, runRecovery } from '../../../src/application/reactions/recovery.js';
import type { CallProgress, LastSeen } from '../../../src/domain/call/call-progress.js';
import { beginning, Position, streams } from '../../../src/domain/events/events.js';
import { CallId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import { openCalls } from '../../../src/projections/models/ledger/ledger-queries.js';
import { alice, at, east, granted, reserved, settled, west, when } from '../../projections/history.js';
import { forEachTest, type Projected } from '../../projections/projected.js';
import { settableClock } from '../../support/given/fixed-clock.js';
import { taskFacts } from '../../support/given/tasks.js';
import { maxSpacing } from '../../support/memory/memory-event-store.js';
import { MemoryTaskStore } from '../../support/memory/memory-task-store.js';
import { until } from '../../support/until.js';

let projected: Projected;
forEachTest((fresh) => {
  projected = fresh;
});

const clock = settableClock(at(60));
const everything = Position(Number.MAX_SAFE_INTEGER);

/** Of the nth event of the log; of the one that is next, a place that is not before it. */
async function positionOf(nth: number): Promise<Position> {
  const log = await projected.store.readAll(beginning, 10_000);
  return log[nth]?.position ?? Position(Number(log.at(-1)?.position ?? beginning) + maxSpacing);
}

const inFlight = new Set<string>();
const seen = new Map<CallId, LastSeen>();
const forgotten: string[] = [];
let othersForgotten = 0;
let tasks = new MemoryTaskStore();
/** What its payer has, by the gate. */
let there = 1_000_000;

beforeEach(() => {
  there = 1_000_000;
  inFlight.clear();
  seen.clear();
  forgotten.length = 0;
  othersForgotten = 0;
  tasks = new MemoryTaskStore();
});

const gate = {
  chargeLeft: async ({ reserved: held }: LeftCall, cost: Quota) => Quota(Math.min(held, cost, there)),
};

const ports = () => ({
  openCalls: (range: Parameters<typeof openCalls>[1]) => openCalls(projected.db, range),
  handle: handle(projected.store, clock),
  clock,
  gate,
  notes: {
    lastSeen: async () => seen,
    forget: async (calls: readonly CallId[]) => void forgotten.push(...calls),
    forgetOthers: async () => {
      othersForgotten++;
    },
  },
  tasks,
  isInFlight: (callId: CallId) => inFlight.has(callId),
});
const recover = (upTo = everything): Promise<Recovered> => recoverCalls(ports(), upTo);
const outcomeOf = async (call: string) => (await projected.store.readStream(streams.call(CallId(call))))[1]?.event;

const progress: CallProgress = { attempts: [west, east], unknownAttempts: 1, upstreamModel: 'mapped', delivered: null };

describe('a call left by a dead process', () => {
  test('is released, with its upstream cost booked as far as it may be owed', async () => {
    seen
      .set(CallId('sent'), { kind: 'sent', progress })
      .set(CallId('waited'), { kind: 'not-sent' })
      .set(CallId('unknown'), { kind: 'unknown' });
    await projected.given(granted(alice, 1_000), reserved('sent', 40), reserved('waited', 30), reserved('unknown', 20));
    expect(await recover()).toEqual({ released: 3, settled: 0 });
    expect(await outcomeOf('sent')).toMatchObject({ reason: 'recovered', attempts: [west, east], suspense: 80 });
    expect(await outcomeOf('waited')).toMatchObject({ reason: 'recovered', suspense: 0 });
    expect(await outcomeOf('unknown')).toMatchObject({ reason: 'recovered', suspense: 20 });
    expect(forgotten).toEqual(['sent', 'waited', 'unknown']);
  });

  test('is charged for what had reached its caller, and once', async () => {
    const delivered = { firstTokenMs: 12, outputTokens: 100 };
    seen.set(CallId('stream'), { kind: 'sent', progress: { ...progress, delivered } });
    await projected.given(granted(alice, 1_000), reserved('stream', 900));
    expect(await recover()).toEqual({ released: 0, settled: 1 });
    // (120 in + 100 out × 4) × 1.25
    const booked = {
      charged: 650,
      suspense: 900,
      usageSource: 'estimated',
      outcome: 'gateway-failed',
      channelId: east,
    };
    expect(await outcomeOf('stream')).toMatchObject({ ...booked, upstreamModel: 'mapped', firstTokenMs: 12 });
    expect(await recover()).toEqual({ released: 0, settled: 0 });
  });

  test('is charged no more than the balance, where a concurrent expensive call has taken its reservation', async () => {
    const delivered = { firstTokenMs: 12, outputTokens: 100 };
    seen.set(CallId('stream'), { kind: 'sent', progress: { ...progress, unknownAttempts: 0, delivered } });
    await projected.given(granted(alice, 1_000), reserved('stream', 900));
    there = 400;
    expect(await recover()).toEqual({ released: 0, settled: 1 });
    expect(await outcomeOf('stream')).toMatchObject({ charged: 400, uncovered: 250 });
  });

  test('is charged its price where upstream has taken a task, which is submitted, and once', async () => {
    const { taskId: _, ...facts } = taskFacts({ callId: CallId('drawing'), channelId: east });
    const submission = { ...facts, status: 'submitted', progress: 0 } as const;
    const { callId, userId } = facts;
    const { id } = await tasks.add({ callId, userId, submittedAt: clock.now(), submission, sealed: null });
    const price = { per: 'call', price: '0.1', quotaPerUnit: '500', group: '1' } as const;
    await projected.given(granted(alice, 1_000), reserved('drawing', 50, { price }));
    expect(await recover()).toEqual({ released: 0, settled: 1 });
    expect(await outcomeOf('drawing')).toMatchObject({
      type: 'CallSettled',
      charged: 50,
      outcome: 'gateway-failed',
      channelId: east,
      task: { id, platform: 'midjourney', action: 'IMAGINE', publicId: facts.publicId },
    });
    const submitted = await projected.store.readStream(streams.task(id));
    expect(submitted.map(({ event }) => event.type)).toEqual(['TaskSubmitted']);
    expect(await recover()).toEqual({ released: 0, settled: 0 });
  });

  test('is recognised by its position in the log, whatever the clock says', async () => {
    await projected.given(when(Instant(at() + 10 * 365 * 86_400_000), reserved('future', 40)), reserved('later', 5));
    expect(await recover(await positionOf(0))).toEqual({ released: 1, settled: 0 });
    expect(await outcomeOf('future')).toMatchObject({ useTimeMs: 0, suspense: 40 });
    expect(await outcomeOf('later')).toBeUndefined();
  });

  test('is not one that this process serves', async () => {
    inFlight.add('served');
    await projected.given(reserved('served', 40), reserved('orphan', 5));
    expect(await recover()).toEqual({ released: 1, settled: 0 });
    expect(await outcomeOf('served')).toBeUndefined();
  });

  test('is not one whose outcome the ledger has not read yet', async () => {
    await projected.given(reserved('a', 40));
    // Into the log, past the ledger.
    await projected.stopAll();
    await projected.record(settled('a', 40, 5));
    expect(await recover()).toEqual({ released: 0, settled: 0 });
  });

  test('is found among any number of others', async () => {
    await projected.given(...Array.from({ length: 2_300 }, (_, n) => reserved(`call-${n}`, 1)));
    for (let n = 0; n < 2_300; n++) if (n % 2 === 0) inFlight.add(`call-${n}`);
    expect(await recover()).toEqual({ released: 1_150, settled: 0 });
  });
});

const ledgerState = (position: Position) => ({
  name: 'ledger',
  version: 1,
  position,
  head: position,
  status: 'running' as const,
  failure: null,
  unreadable: false,
  leading: true,
  quarantined: 0,
});

describe('crash recovery while the gateway serves', () => {
  let stop: () => Promise<void> = async () => {};
  afterEach(() => stop());

  /** `ledgerAt`: null while nobody asks for it. */
  const keep = async (began: number, ledgerThere: boolean[] = [], everyMs = 5, ledgerAt: number | null = null) => {
    let ledger = ledgerAt === null ? null : await positionOf(ledgerAt);
    const found: Recovered[] = [];
    const waitedFor: (readonly string[] | undefined)[] = [];
    let position = await positionOf(began);
    const beganAt = position;
    let timesBehind = 0;
    const recovering = await runRecovery(ports(), {
      progress: {
        reached: async (_position, _timeoutMs, names) => {
          waitedFor.push(names);
          return ledgerThere.shift() ?? true;
        },
        status: () => (ledger === null ? [] : [ledgerState(ledger)]),
      },
      began: beganAt,
      position: () => position,
      everyMs,
      recovered: (round) => found.push(round),
      failed: (error) => {
        throw error;
      },
      behind: () => {
        timesBehind += 1;
      },
    });
    stop = () => recovering.stop();
    return {
      look: (upTo: Position) => recovering.look(upTo),
      timesBehind: () => timesBehind,
      found,
      waitedFor,
      move: async (to: number) => {
        position = await positionOf(to);
      },
      ledgerGoesOn: () => {
        ledger = beganAt;
      },
    };
  };

  test('first concludes the calls open before it, waiting for the ledger only', async () => {
    await projected.given(reserved('before', 40));
    const { found, waitedFor } = await keep(0);
    expect(found).toEqual([{ released: 1, settled: 0 }]);
    expect(waitedFor[0]).toEqual(['ledger']);
    expect(othersForgotten).toBe(1);
  });

  test('concludes calls that a stopped ledger lacked as soon as it continues, long before the next round', async () => {
    await projected.given(granted(alice, 1_000));
    const round = await keep(1, [false], 3_600_000, 0);
    expect(round.found).toEqual([]);
    await projected.given(reserved('before', 40));
    round.ledgerGoesOn();
    await until(async () => (round.found.length === 1 ? true : null));
    expect(round.found).toEqual([{ released: 1, settled: 0 }]);
    expect(othersForgotten).toBe(1);
  });

  test('finds a call lost later, but not one that was reserved since the last round', async () => {
    await projected.given(granted(alice, 1_000));
    const round = await keep(0);
    inFlight.add('lost');
    await projected.given(reserved('lost', 40));
    await round.move(1);
    await until(async () => (round.waitedFor.length > 4 ? true : null));
    expect(round.found).toEqual([]);
    inFlight.delete('lost');
    await until(async () => (round.found.length === 1 ? true : null));
    expect(await outcomeOf('lost')).toMatchObject({ reason: 'recovered', suspense: Quota(40) });
  });

  test('concludes calls that have just been left long before the next round, and no others', async () => {
    await projected.given(granted(alice, 1_000));
    const round = await keep(0, [], 3_600_000);
    inFlight.add('kept');
    const lost = await projected.record(reserved('kept', 40), reserved('lost', 50));
    await projected.given(reserved('later', 60));
    round.look(lost);
    await until(async () => (round.found.length === 1 ? true : null));
    expect(round.found).toEqual([{ released: 1, settled: 0 }]);
    expect(await outcomeOf('lost')).toMatchObject({ reason: 'recovered', suspense: Quota(50) });
    expect([await outcomeOf('kept'), await outcomeOf('later')]).toEqual([undefined, undefined]);
  });

  test('keeps the notes of other nodes until all their calls are known, and reports once while they are not', async () => {
    await projected.given(reserved('before', 40));
    const round = await keep(0, [false, false]);
    expect(round.timesBehind()).toBe(1);
    expect(othersForgotten).toBe(0);
    await until(async () => (othersForgotten === 1 ? true : null));
    expect(round.waitedFor.length).toBeGreaterThanOrEqual(3);
    expect(round.timesBehind()).toBe(1);
  });
});
