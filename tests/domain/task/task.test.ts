import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import {
  isTerminal,
  type SeenTask,
  type Task,
  type TaskCommand,
  type TaskEvent,
  type TaskFailureReason,
  taskDecider,
  taskFailureReasons,
  taskStatuses,
} from '../../../src/domain/task/task.js';
import { scenariosOf } from '../../support/given/given.js';
import { taskFacts } from '../../support/given/tasks.js';

const given = scenariosOf(taskDecider);
const facts = taskFacts();
const startedAt = Instant(1_800_000_001_000);
const finishedAt = Instant(1_800_000_060_000);
const refund = { callId: facts.callId, charged: Quota(50_000) };

const submit = { type: 'SubmitTask', facts, status: 'submitted', progress: 0 } as const satisfies TaskCommand;
const submitted = { type: 'TaskSubmitted', facts, status: 'submitted', progress: 0 } as const satisfies TaskEvent;
const seen = (said: Partial<SeenTask> = {}): TaskCommand => ({
  type: 'ObserveTask',
  status: 'in-progress',
  progress: null,
  startedAt: null,
  finishedAt: null,
  ...said,
});
const at = (progress: number, status: 'submitted' | 'queued' | 'in-progress' = 'in-progress'): TaskEvent => ({
  type: 'TaskProgressed',
  facts,
  status,
  progress,
  startedAt: null,
});
const fail = (reason: TaskFailureReason = 'upstream'): TaskCommand => ({
  type: 'FailTask',
  reason,
  refund,
  startedAt: null,
  finishedAt,
});
const failed = {
  type: 'TaskFailed',
  facts,
  reason: 'upstream',
  refund,
  progress: 0,
  startedAt: null,
  finishedAt,
} as const satisfies TaskEvent;
const succeeded = { type: 'TaskSucceeded', facts, startedAt: null, finishedAt } as const satisfies TaskEvent;

describe('a task', () => {
  test('is submitted once', () => given().when(submit).thenRecordedOnce(submitted));

  test('with an id or action of unexpected characters is refused', () => {
    const submitOf = (changed: Partial<typeof facts>): TaskCommand => ({ ...submit, facts: { ...facts, ...changed } });
    given()
      .when(submitOf({ upstreamId: '../x' }))
      .thenRefused('invalid-field');
    given()
      .when(submitOf({ publicId: 'a b' }))
      .thenRefused('invalid-field');
    given()
      .when(submitOf({ action: 'imagine' }))
      .thenRefused('invalid-field');
    given()
      .when(submitOf({ action: 'A'.repeat(33) }))
      .thenRefused('invalid-field');
  });

  test('may be named by a path upstream, as long-running operations are', () => {
    const operation = { ...facts, upstreamId: 'models/veo-3/operations/a1', publicId: 'video_1' };
    given()
      .when({ ...submit, facts: operation })
      .thenRecordedOnce({ ...submitted, facts: operation });
  });

  test('without a submission cannot be observed or failed', () => {
    given().when(seen()).thenRefused('invalid-field');
    given().when(fail()).thenRefused('invalid-field');
  });

  test('progresses, and says when it was started', () =>
    given(submitted)
      .when(seen({ progress: 12.7, startedAt }))
      .thenRecordedOnce({ type: 'TaskProgressed', facts, status: 'in-progress', progress: 12, startedAt }));

  test('keeps its progress and its first start when a late report says less', () => {
    given(submitted, at(40))
      .when(seen({ progress: 30 }))
      .thenNothing();
    given(submitted, at(40))
      .when(seen({ progress: Number.NaN }))
      .thenNothing();
    given(submitted, at(40))
      .when(seen({ progress: null }))
      .thenNothing();
    given(submitted, at(40))
      .when(seen({ status: 'submitted', progress: 0 }))
      .thenNothing();
    given(submitted, at(40))
      .when(seen({ status: 'unknown' }))
      .thenNothing();
    given(submitted, { ...at(40), startedAt } as TaskEvent)
      .when(seen({ progress: 40, startedAt: finishedAt }))
      .thenNothing();
  });

  test('never exceeds one hundred percent', () =>
    given(submitted)
      .when(seen({ progress: 900 }))
      .thenRecordedOnce(at(100)));

  test.each([
    ['a word that is no status', 'dreaming'],
    ['a member that every object has', 'toString'],
    ['a list of a status', ['queued']],
    ['a function', Object],
    ['nothing', undefined],
    ['an end that reports do not have', 'failed'],
  ])('keeps its status when %s is reported as the new one', (_what, said) => {
    const status = said as never;
    given(submitted).when(seen({ status })).thenNothing();
    given(submitted)
      .when(seen({ status, progress: 30 }))
      .thenRecordedOnce(at(30, 'submitted'));
    given()
      .when({ ...submit, status })
      .thenRecordedOnce({ ...submitted, status: 'unknown' });
  });

  test('may ask its caller for more input, and continues afterwards', () => {
    const modal: TaskEvent = { type: 'TaskProgressed', facts, status: 'modal', progress: 0, startedAt: null };
    given(submitted)
      .when(seen({ status: 'modal' }))
      .thenRecordedOnce(modal);
    given(submitted, modal)
      .when(seen({ status: 'submitted' }))
      .thenRecordedOnce(at(0, 'submitted'));
  });

  test('writes no more than 300 changes, and still its end', () => {
    const changes = Array.from({ length: 300 }, (_, index) => at(0, index % 2 === 0 ? 'queued' : 'in-progress'));
    given(submitted, ...changes)
      .when(seen({ progress: 77 }))
      .thenNothing();
    given(submitted, ...changes)
      .when(fail())
      .thenRecordedOnce(failed);
  });

  test('succeeds once', () =>
    given(submitted)
      .when(seen({ status: 'succeeded', finishedAt }))
      .thenRecordedOnce(succeeded));

  test('fails once, and names the charge that is taken back', () =>
    given(submitted).when(fail()).thenRecordedOnce(failed));

  test('that is at an end stays there', () => {
    for (const end of [succeeded, failed]) {
      given(submitted, end)
        .when(seen({ progress: 50 }))
        .thenNothing();
      given(submitted, end)
        .when(seen({ status: 'succeeded' }))
        .thenNothing();
      given(submitted, end).when(fail('timed-out')).thenNothing();
      given(submitted, end).when(submit).thenNothing();
    }
  });

  test('has one end at most and never goes back, whatever is reported in whatever order', () => {
    const reports = fc.array(
      fc.oneof(
        fc.record({
          status: fc.constantFrom(...taskStatuses).filter((status) => status !== 'failed'),
          progress: fc.option(fc.double({ min: -50, max: 500 })),
        }),
        fc.constantFrom(...taskFailureReasons),
      ),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(reports, (told) => {
        let state: Task = taskDecider.evolve(taskDecider.initial, submitted);
        let [ends, progress] = [0, 0];
        for (const report of told) {
          const command = typeof report === 'string' ? fail(report) : seen(report as SeenTask);
          for (const event of taskDecider.decide(command, state)) {
            state = taskDecider.evolve(state, event);
            if (event.type === 'TaskSucceeded' || event.type === 'TaskFailed') ends++;
          }
          if (state.status === 'none') throw new Error('it was submitted');
          expect(state.progress).toBeGreaterThanOrEqual(progress);
          expect(Number.isInteger(state.progress)).toBe(true);
          progress = state.progress;
        }
        expect(ends).toBe(state.status !== 'none' && isTerminal(state.status) ? 1 : 0);
      }),
    );
  });
});
