import fc from 'fast-check';
import { expect, test } from 'vitest';
import { observeTask } from '../../../src/application/tasks/observe-task.js';
import { recordTask } from '../../../src/application/tasks/record-task.js';
import { beginning, streams } from '../../../src/domain/events/events.js';
import { ApiKeyId, CallId, UserId } from '../../../src/domain/kernel/ids.js';
import { movementsOf } from '../../../src/domain/ledger/movements.js';
import { taskFailureReasons, taskStatuses } from '../../../src/domain/task/task.js';
import { released, reserved, settled } from '../../support/given/calls.js';
import { foldAccount } from '../../support/memory/gate-world.js';
import { MemoryEventStore } from '../../support/memory/memory-event-store.js';
import { newTask, seenTask, taskWorld } from './task-setting.js';

/* Submits, settlements, reports and refunds of several tasks in any order, with crashes between any two of them. */

const user = UserId(7);
const apiKey = ApiKeyId(12);
const number = fc.integer({ min: 0, max: 3 });

const step = fc.oneof(
  fc.record({ do: fc.constant('submit' as const), n: number }),
  fc.record({
    do: fc.constant('outcome' as const),
    n: number,
    charged: fc.constantFrom(0, 20, 50),
    isLost: fc.boolean(),
  }),
  fc.record({
    do: fc.constant('report' as const),
    n: number,
    status: fc.constantFrom(...taskStatuses),
    reason: fc.constantFrom(...taskFailureReasons),
    progress: fc.option(fc.integer({ min: -5, max: 200 })),
  }),
  fc.record({ do: fc.constant('refund' as const), n: number }),
);

test('charges less refunds of tasks are right in any schedule, and balances of user, key and ledger agree', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (schedule) => {
      const log = new MemoryEventStore();
      const world = taskWorld(log);
      const callOf = (n: number) => CallId(`call-${n}`);
      for (const n of [0, 1, 2, 3]) await world.record(streams.call(callOf(n)), reserved({ quota: 50 }));
      const concluded = new Set<number>();
      for (const one of schedule) {
        const callId = callOf(one.n);
        if (one.do === 'submit') await recordTask(world.ports, newTask({ callId }));
        if (one.do === 'outcome' && !concluded.has(one.n)) {
          concluded.add(one.n);
          const { charged } = one;
          await world.record(
            streams.call(callId),
            one.isLost ? released({ quota: 50 }) : settled({ quota: 50, charged }),
          );
        }
        if (one.do === 'report') {
          const [task] = await world.ports.tasks.byCalls([callId]);
          const { status, reason, progress } = one;
          if (task !== undefined) await observeTask(world.ports, task.id, seenTask({ status, reason, progress }));
        }
        if (one.do === 'refund') await world.refund(await log.readAll(beginning, 1_000));
      }
      // What a crash has left is done after the next start.
      await world.refund(await log.readAll(beginning, 1_000));

      const events = await log.readAll(beginning, 1_000);
      let due = 0;
      for (const n of [0, 1, 2, 3]) {
        const ofCall = events.filter(({ stream }) => stream === streams.call(callOf(n))).map(({ event }) => event);
        const charge = ofCall.find((event) => event.type === 'CallSettled')?.charged ?? 0;
        const ofTask = events.filter(
          ({ event }) =>
            event.type.startsWith('Task') &&
            'facts' in event &&
            'callId' in event.facts &&
            event.facts.callId === callOf(n),
        );
        const ends = ofTask.filter(({ event }) => event.type === 'TaskFailed' || event.type === 'TaskSucceeded');
        expect(ends.length).toBeLessThanOrEqual(1);
        const hasFailed = ends.some(({ event }) => event.type === 'TaskFailed');
        const refunds = ofCall.filter((event) => event.type === 'CallRefunded');
        expect(refunds).toHaveLength(hasFailed && charge > 0 ? 1 : 0);
        due += hasFailed ? 0 : charge;
      }
      const available = foldAccount(events, { user });
      const ofKey = foldAccount(events, { apiKey });
      expect([available.balance, ofKey.balance]).toEqual([-due || 0, -due || 0]);
      const postings = events.flatMap((recorded) => movementsOf(recorded)).flatMap((movement) => movement.postings);
      const sumOf = (isCounted: (owner: string) => boolean) =>
        postings.reduce((sum, { owner, amount }) => (isCounted(owner) ? sum + amount : sum), 0n);
      expect(sumOf((owner) => owner !== 'api-key')).toBe(0n);
      expect(sumOf((owner) => owner === 'user')).toBe(BigInt(-due));
      expect(sumOf((owner) => owner === 'api-key')).toBe(BigInt(-due));
    }),
    { numRuns: 150 },
  );
});
