import { describe, expect, test } from 'vitest';
import type { CallEvent } from '../../../src/domain/call/call.js';
import {
  attemptsOf,
  type CallCourse,
  callStatus,
  courseOf,
  receivedAt,
  stepsOf,
} from '../../../src/domain/call/call-course.js';
import type { Recorded } from '../../../src/domain/events/events.js';
import { CallId, ChannelId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { at, type Fact, refunded, refused, released, reserved, settled, when } from '../../projections/history.js';

/** The id of a call that arrived 40 ms before 2026-01-02 03:04:05 UTC. */
const id = CallId('20260102030404960abcdEFGH');

const course = (...facts: readonly Fact[]): CallCourse => {
  const events = facts.map(({ event, at: instant }, revision) => ({
    event,
    at: instant,
    revision,
    position: revision,
  }));
  const found = courseOf(events as never as Recorded<CallEvent>[]);
  if (found === null) throw new Error('these events are of no call');
  return found;
};
const steps = (...facts: readonly Fact[]) => {
  const found = course(...facts);
  return stepsOf(found, receivedAt(id, found)).map(({ kind, from, to }) => [kind, from, to]);
};
const later = (ms: number, reported: Fact): Fact => when(Instant(at() + ms), reported);

describe('the timeline of a call', () => {
  test('begins with the reservation: other events are not part of it', () => {
    expect(courseOf([])).toBeNull();
    const { event } = refused('a');
    expect(courseOf([{ event }] as never as Recorded<CallEvent>[])).toBeNull();
  });
  test('is in flight until there is an outcome', () => {
    expect(callStatus(course(reserved('a', 9)))).toBe('under-way');
    expect(callStatus(course(reserved('a', 9), settled('a', 9, 7)))).toBe('settled');
    expect(callStatus(course(reserved('a', 9), released('a', 9)))).toBe('released');
    expect(callStatus(course(reserved('a', 9), settled('a', 9, 7), refunded('a', 7)))).toBe('refunded');
  });
  test('is a sequence of steps from its arrival, each beginning where the previous one ends', () => {
    expect(steps(reserved('a', 9))).toEqual([
      ['admitting', 0, 40],
      ['waiting', 40, null],
    ]);
    expect(steps(reserved('a', 9), later(2_100, settled('a', 9, 7)))).toEqual([
      ['admitting', 0, 40],
      ['waiting', 40, 680],
      ['answering', 680, 2_140],
    ]);
  });
  test('includes the wait for the whole of an answer that is not streamed, and for one that never came', () => {
    expect(steps(reserved('a', 9), later(2_100, settled('a', 9, 7, { firstTokenMs: null })))).toEqual([
      ['admitting', 0, 40],
      ['waiting', 40, 2_140],
    ]);
    expect(steps(reserved('a', 9), later(300, released('a', 9)))).toEqual([
      ['admitting', 0, 40],
      ['waiting', 40, 340],
    ]);
  });
  test('shows when an outcome was written late, and when it was withdrawn', () => {
    expect(steps(reserved('a', 9), later(5_000, settled('a', 9, 7)), later(9_000, refunded('a', 7))).slice(-2)).toEqual(
      [
        ['concluding', 2_140, 5_040],
        ['refunding', 5_040, 9_040],
      ],
    );
  });
  test('never runs backwards even if clocks did', () => {
    const odd = steps(later(60, reserved('a', 9)), later(0, settled('a', 9, 7, { useTimeMs: 10, firstTokenMs: 20 })));
    expect(odd).toEqual([
      ['admitting', 0, 100],
      ['waiting', 100, 120],
      ['answering', 120, 120],
    ]);
  });
});

describe('the attempts of a call', () => {
  const [first, second] = [ChannelId(35), ChannelId(36)];
  const failure = { status: 500, code: 'bad_response', durationMs: 200.4 };
  const spans = (...facts: readonly Fact[]) => {
    const found = course(...facts);
    return attemptsOf(found, receivedAt(id, found)).map(({ channelId, from, to }) => [channelId, from, to]);
  };

  test('are unknown before there is an outcome', () => expect(spans(reserved('a', 9))).toEqual([]));
  test('are consecutive, and the successful one lasts as long as its answer', () => {
    const reported = {
      attempts: [first, second],
      failedAttempts: [{ ...failure, channelId: first }],
      channelId: second,
    };
    expect(spans(reserved('a', 9), later(2_100, settled('a', 9, 7, reported)))).toEqual([
      [first, 40, 240],
      [second, 240, 2_140],
    ]);
  });
  test('of the same channel are distinguished by their order', () => {
    const reported = { attempts: [first, first], failedAttempts: [{ ...failure, channelId: first }] };
    expect(spans(reserved('a', 9), later(300, released('a', 9, reported)))).toEqual([
      [first, 40, 240],
      [first, 240, 340],
    ]);
  });
  test('end with the call, however long they claim to have taken', () => {
    const reported = { attempts: [first], failedAttempts: [{ ...failure, channelId: first, durationMs: 9_000 }] };
    expect(spans(reserved('a', 9), later(300, released('a', 9, reported)))).toEqual([[first, 40, 340]]);
  });
  test('after one of unknown duration have an unknown time', () => {
    const reported = { attempts: [first, second], failedAttempts: [] };
    expect(spans(reserved('a', 9), later(300, released('a', 9, reported)))).toEqual([
      [first, 40, null],
      [second, null, 340],
    ]);
  });
});

describe('the arrival time of a request', () => {
  test.each([
    ['an id without a time', 'abc'],
    ['an id of a later time', '20260102030405001abcdEFGH'],
    ['an id of a much earlier time', '20250102030404960abcdEFGH'],
    ['an id of an invalid time', '20269902030404960abcdEFGH'],
  ])('is that of the reservation for %s', (_, reported) => {
    expect(receivedAt(CallId(reported), course(reserved('a', 9)))).toBe(at());
  });
});
