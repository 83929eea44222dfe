import { describe, expect, test } from 'vitest';
import { courseOf, type ShownCourse } from '../../web/src/log/callCourse.js';

const settled: ShownCourse = {
  status: 'SETTLED',
  steps: [
    { kind: 'ADMITTING', from: 0, to: 40 },
    { kind: 'WAITING', from: 40, to: 300 },
    { kind: 'ANSWERING', from: 300, to: 900 },
  ],
  reserved: 70,
  refunded: 0,
  end: { charged: 50 } as ShownCourse['end'],
};
const [admitting, waiting] = settled.steps as [ShownCourse['steps'][number], ShownCourse['steps'][number]];

const shown = (call: ShownCourse) =>
  courseOf(call).map((entry) => {
    if (entry.of === 'step') return entry.kind;
    return entry.of === 'attempt' ? `attempt ${entry.index}` : [entry.kind, entry.at, entry.quota];
  });

describe('the timeline of a request', () => {
  test('has its reservation, its first token and its charge between its steps', () =>
    expect(shown(settled)).toEqual([
      'ADMITTING',
      ['RESERVED', 40, 70],
      'WAITING',
      ['FIRST_TOKEN', 300, null],
      'ANSWERING',
      ['SETTLED', 900, 50],
    ]));

  test('has the channel it waited for', () => {
    const attempt = { channelId: '1', channelName: 'a', failed: true, status: 500, code: null };
    const attempts = [
      { ...attempt, durationMs: 5, from: 40, to: 45 },
      { ...attempt, failed: false, durationMs: null, from: 45, to: 900 },
    ];
    expect(shown({ ...settled, attempts }).slice(2, 5)).toEqual(['WAITING', 'attempt 0', 'attempt 1']);
  });

  test('has no end while it is in flight', () => {
    const steps = [admitting, { ...waiting, to: null }];
    expect(shown({ ...settled, status: 'UNDER_WAY', steps, end: null })).toEqual([
      'ADMITTING',
      ['RESERVED', 40, 70],
      'WAITING',
    ]);
  });

  test('releases the whole reservation where it was not served', () => {
    const steps = [admitting, waiting, { kind: 'CONCLUDING' as const, from: 300, to: 320 }];
    expect(shown({ ...settled, status: 'RELEASED', steps }).at(-1)).toEqual(['RELEASED', 320, 70]);
  });

  test('has a charge and its refund where the answer was withheld', () => {
    const steps = [...settled.steps, { kind: 'REFUNDING' as const, from: 900, to: 950 }];
    expect(
      shown({ ...settled, status: 'REFUNDED', steps, refunded: 50, end: { charged: 0 } as ShownCourse['end'] }).slice(
        -3,
      ),
    ).toEqual([['SETTLED', 900, 50], 'REFUNDING', ['REFUNDED', 950, 50]]);
  });
});
