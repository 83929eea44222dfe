import { describe, expect, test } from 'vitest';
import { RelayError } from '../../../src/relay/contracts/errors.js';
import type { UpstreamRequest } from '../../../src/relay/contracts/protocol.js';
import {
  type AnsweredAttempt,
  type Attempt,
  type AttemptFailure,
  failed,
} from '../../../src/relay/pipeline/attempt-failure.js';
import { orderedAnswer } from '../../../src/relay/pipeline/ordered-answer.js';

const question = { url: 'https://upstream.example/tasks/1' } as UpstreamRequest;
const upstreamFailed = (status: number): AttemptFailure => ({
  ...failed(new RelayError(status, 'upstream_error', `status ${status}`), true),
  answered: status,
});
const taken: AttemptFailure = { ...upstreamFailed(502), costUnknown: true, later: { request: question, afterMs: 1 } };
const done = { ok: true, upstreamModel: 'm' } as AnsweredAttempt;

/** What an order comes to whose questions are answered so, one after the other, and how many were asked. */
async function course(answers: readonly Attempt[], first: Attempt = taken, patienceMs = 10_000) {
  const timeouts: (number | undefined)[] = [];
  const result = await orderedAnswer(first, {
    patienceMs,
    async ask({ url, timeoutMs }) {
      expect(url).toBe(question.url);
      timeouts.push(timeoutMs);
      const answer = answers[timeouts.length - 1] ?? answers.at(-1);
      if (answer === undefined) throw new Error('nobody was to be asked');
      return answer;
    },
  });
  return { result, asked: timeouts.length, timeouts };
}

describe('an attempt without an order', () => {
  test.each<[string, Attempt]>([
    ['an answer', done],
    ['a failure', upstreamFailed(429)],
  ])('remains %s', async (_, attempt) => {
    expect(await course([], attempt)).toMatchObject({ result: attempt, asked: 0 });
  });
});

describe('what was ordered', () => {
  test('is requested until it is there, each time with a bounded wait', async () => {
    const { result, asked, timeouts } = await course([taken, taken, done]);
    expect([result, asked]).toEqual([done, 3]);
    expect(timeouts.every((ms) => ms !== undefined && ms > 0 && ms <= 20_000)).toBe(true);
  });

  test('is requested again although requests have failed in between', async () => {
    const { result, asked } = await course([
      upstreamFailed(500),
      upstreamFailed(429),
      taken,
      upstreamFailed(500),
      done,
    ]);
    expect([result, asked]).toEqual([done, 5]);
  });

  test('has failed once its upstream says so, at no cost', async () => {
    const refused: AttemptFailure = { ...upstreamFailed(400), orderFailed: true };
    expect(await course([taken, refused])).toMatchObject({ result: refused, asked: 2 });
  });

  test.each<[string, AttemptFailure]>([
    ['fails', upstreamFailed(500)],
    ['finds no place', { ...upstreamFailed(503), passedOver: 'busy' }],
  ])('is of unknown cost, and ordered nowhere else, where each request %s', async (_, answer) => {
    const { result, asked } = await course([answer]);
    expect(result).toMatchObject({ ok: false, costUnknown: true, retryable: false, passedOver: null });
    expect(asked).toBe(5);
  });

  test('is of unknown cost where it does not come in time', async () => {
    const { result, asked } = await course([taken], taken, 30);
    expect(result).toMatchObject({ ok: false, costUnknown: true, retryable: false });
    expect(asked).toBeGreaterThan(0);
  });
});
