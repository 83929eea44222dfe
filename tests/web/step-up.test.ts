import { CombinedGraphQLErrors } from '@apollo/client/errors';
import { beforeEach, describe, expect, test } from 'vitest';
import { type KeptProofs, orderWithProof } from '../../web/src/kit/proof/orderWithProof.js';

const refused = (code: string) => new CombinedGraphQLErrors({ errors: [{ message: code, extensions: { code } }] });

describe('a command that requires step-up authentication', () => {
  let kept: KeptProofs;
  let asked: number;
  /** What each order is to be answered with, and what they were given with. */
  let answers: (CombinedGraphQLErrors | string)[];
  let given: (string | null)[];

  beforeEach(() => {
    kept = new Map();
    asked = 0;
    given = [];
  });

  const give = (...then: (CombinedGraphQLErrors | string)[]) => {
    answers = then;
    return orderWithProof(
      kept,
      'EMAIL',
      async (stepUp) => {
        given.push(stepUp);
        const answer = answers.shift();
        if (typeof answer !== 'string') throw answer;
        return answer;
      },
      async () => `proof ${++asked}`,
    );
  };

  test('is repeated with the proof, which is used up by it', async () => {
    expect(await give(refused('step-up-needed'), 'done')).toBe('done');
    expect(await give(refused('step-up-needed'), 'done')).toBe('done');
    expect(given).toEqual([null, 'proof 1', null, 'proof 2']);
  });

  test('that is refused with a proof keeps it for the next, without asking again', async () => {
    const wrong = refused('email-code-wrong');
    await expect(give(refused('step-up-needed'), wrong)).rejects.toBe(wrong);
    await expect(give(wrong)).rejects.toBe(wrong);
    expect(await give('done')).toBe('done');
    expect(given).toEqual([null, 'proof 1', 'proof 1', 'proof 1']);
    expect(kept.size).toBe(0);
  });

  test('requires a new proof where the stored one has expired', async () => {
    const wrong = refused('email-code-wrong');
    await expect(give(refused('step-up-needed'), wrong)).rejects.toBe(wrong);
    expect(await give(refused('step-up-needed'), 'done')).toBe('done');
    expect(given).toEqual([null, 'proof 1', 'proof 1', 'proof 2']);
  });

  test('for another purpose does not use it', async () => {
    kept.set('PASSWORD', 'of a password');
    expect(await give('done')).toBe('done');
    expect(given).toEqual([null]);
    expect(kept.get('PASSWORD')).toBe('of a password');
  });
});
