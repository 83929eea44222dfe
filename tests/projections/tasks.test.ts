import { describe, expect, test } from 'vitest';
import { CallId, TaskId } from '../../src/domain/kernel/ids.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { Quota } from '../../src/domain/kernel/quota.js';
import { taskFacts } from '../support/given/tasks.js';
import { type Fact, ofTask, refunded, reserved, settled } from './history.js';
import { forEachTest, type Projected } from './projected.js';

let projected: Projected;
forEachTest((fresh) => {
  projected = fresh;
});

const callId = CallId('drawing-1');
const facts = taskFacts({ callId });
const task = { id: facts.taskId, platform: facts.platform, action: facts.action, publicId: facts.publicId };
const submitted = ofTask({ type: 'TaskSubmitted', facts, status: 'submitted', progress: 0 });
const startedAt = Instant(1_800_000_001_000);
const finishedAt = Instant(1_800_000_060_000);

const rowAfter = async (...history: readonly Fact[]) => {
  const db = await projected.given(...history);
  return db.selectFrom('task').selectAll().where('id', '=', facts.taskId).executeTakeFirstOrThrow();
};

describe('the list of tasks', () => {
  test('shows a task as soon as it is submitted, before its call is charged', async () => {
    expect(await rowAfter(reserved(callId, 50), submitted)).toMatchObject({
      user_id: facts.userId,
      call_id: callId,
      platform: 'midjourney',
      action: 'IMAGINE',
      status: 'submitted',
      progress: 0,
      charged: null,
      refunded: false,
      finished_at: null,
    });
  });

  test('shows progress, the end and the charge', async () => {
    const row = await rowAfter(
      reserved(callId, 50),
      submitted,
      settled(callId, 50, 50, { task }),
      ofTask({ type: 'TaskProgressed', facts, status: 'in-progress', progress: 40, startedAt }),
      ofTask({ type: 'TaskSucceeded', facts, startedAt, finishedAt }),
    );
    expect(row).toMatchObject({ status: 'succeeded', progress: 100, charged: 50, refunded: false });
    expect(row).toMatchObject({ started_at: startedAt, finished_at: finishedAt, reason: null });
  });

  test('shows why a task failed, and that its charge was refunded', async () => {
    const refund = { callId, charged: Quota(50) };
    const failed = { type: 'TaskFailed', facts, reason: 'timed-out', refund, progress: 40 } as const;
    const history = [
      reserved(callId, 50),
      submitted,
      settled(callId, 50, 50, { task }),
      ofTask({ ...failed, startedAt: null, finishedAt: null }),
    ];
    expect(await rowAfter(...history)).toMatchObject({ status: 'failed', reason: 'timed-out', refunded: false });
    const refunding = refunded(callId, 50, { task: { ...task, reason: 'timed-out' } });
    expect(await rowAfter(refunding)).toMatchObject({ status: 'failed', charged: 50, refunded: true });
  });

  test('knows the task of a charge that was taken back because its answer was withheld', async () => {
    const row = await rowAfter(
      reserved(callId, 50),
      submitted,
      settled(callId, 50, 50, { task }),
      refunded(callId, 50),
    );
    expect(row).toMatchObject({ status: 'submitted', charged: 50, refunded: true });
  });

  test('ignores charges of calls that submitted no task', async () => {
    const db = await projected.given(reserved('chat', 50), settled('chat', 50, 50), refunded('chat', 50));
    expect(await db.selectFrom('task').selectAll().where('id', '>', TaskId(1)).execute()).toEqual([]);
  });
});
