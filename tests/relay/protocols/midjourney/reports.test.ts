import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isTaken,
  refusedBody,
  shownCode,
  submitAnswerIn,
  taskIdIn,
  uploadedIn,
} from '../../../../src/relay/protocols/midjourney/submit-answer.js';
import { reportedTask } from '../../../../src/relay/protocols/midjourney/task-object.js';

const answer = (code: number, rest: Record<string, unknown> = {}) => {
  const found = submitAnswerIn({ code, description: 'words', result: '1712158011464906', properties: {}, ...rest });
  if (found === null) throw new Error('no answer');
  return found;
};

describe('the answer to a submission', () => {
  test.each([
    [1, true, 1],
    [21, true, 1],
    [22, true, 1],
    [3, false, 3],
    [4, false, 4],
    [5, false, 5],
    [23, false, 23],
    [24, false, 24],
    [30, false, 30],
    [9, false, 9],
  ])('with code %i is taken: %s, and shown as %i', (code, taken, shown) => {
    expect(isTaken(answer(code), 'IMAGINE')).toBe(taken);
    expect(shownCode(answer(code), 'IMAGINE')).toBe(shown);
  });

  test.each(['INPAINT', 'CUSTOM_ZOOM'])('of %s keeps code 21, by which clients open the dialog', (action) => {
    expect(shownCode(answer(21), action)).toBe(21);
    expect(isTaken(answer(21), action)).toBe(true);
  });

  test('of a swapped face is taken with code 1 alone', () =>
    expect([1, 21, 22].map((code) => isTaken(answer(code), 'SWAP_FACE'))).toEqual([true, false, false]));

  test('without a code that is an integer is no such answer', () => {
    for (const body of [null, [], 'x', {}, { code: '1' }, { code: 1.5 }, { code: null }])
      expect(submitAnswerIn(body)).toBeNull();
  });

  test('names its task by a text or a number, and by nothing that is no id', () => {
    expect(taskIdIn(answer(1))).toBe('1712158011464906');
    expect(taskIdIn(answer(1, { result: 1712 }))).toBe('1712');
    for (const result of ['', '../x', 'a/b', null, {}, [1], 'x'.repeat(129)])
      expect(taskIdIn(answer(1, { result }))).toBeNull();
  });

  test('of an upload holds at most 32 addresses', () => {
    expect(uploadedIn(answer(1, { result: ['https://a.example/1', 7, ''] }))).toEqual(['https://a.example/1']);
    expect(uploadedIn(answer(1, { result: Array(100).fill('https://a.example/1') }))).toHaveLength(32);
  });

  test('that refuses is passed on without the key and the address of the channel', () => {
    const confidential = { key: 'secret-key-1234', baseUrl: 'https://proxy.internal.example', organization: null };
    const body = refusedBody(
      answer(24, {
        description: 'banned at https://proxy.internal.example with secret-key-1234',
        properties: { bannedWord: 'blood', promptEn: 'secret-key-1234', deep: { a: 1 } },
      }),
      { ...confidential, other: '', proxy: null },
    );
    expect(body).toMatchObject({ code: 24, result: '1712158011464906', properties: { bannedWord: 'blood' } });
    expect(JSON.stringify(body)).not.toMatch(/secret-key|proxy\.internal|deep/);
  });
});

const task = {
  id: '171',
  action: 'IMAGINE',
  customId: '',
  botType: 'MID_JOURNEY',
  prompt: 'cat',
  promptEn: 'cat',
  description: '',
  state: 'mine',
  submitTime: 1,
  startTime: 1_712_158_011_464,
  finishTime: 0,
  imageUrl: 'https://cdn.example/1.png',
  status: 'IN_PROGRESS',
  progress: '45%',
  failReason: '',
  buttons: [{ customId: 'MJ::JOB::upsample::1::u', emoji: '', label: 'U1', type: 2, style: 2 }],
  maskBase64: 'x'.repeat(100_000),
  properties: { finalPrompt: 'cat --v 6', finalZhPrompt: '' },
};

describe('a reported task', () => {
  test('is read member by member, without the mask', () => {
    const read = reportedTask(task);
    expect(read).toMatchObject({
      upstreamId: '171',
      status: 'in-progress',
      progress: 45,
      startedAt: 1_712_158_011_464,
      finishedAt: null,
      state: 'mine',
      result: { imageUrl: task.imageUrl, buttons: task.buttons, properties: task.properties, botType: 'MID_JOURNEY' },
    });
    expect(JSON.stringify(read).length).toBeLessThan(2_000);
  });

  test.each([
    ['SUCCESS', '100%', '', 'succeeded'],
    ['SUCCESS', '100%', 'odd', 'succeeded'],
    ['FAILURE', '0%', 'banned', 'failed'],
    ['FAILURE', '100%', '', 'failed'],
    ['CANCEL', '10%', '', 'failed'],
    ['IN_PROGRESS', '10%', 'broken', 'failed'],
    ['IN_PROGRESS', '100%', 'broken', 'in-progress'],
    ['NOT_START', '', '', 'not-started'],
    ['SUBMITTED', '0%', '', 'submitted'],
    ['MODAL', '0%', '', 'modal'],
    ['toString', '0%', '', 'unknown'],
    [null, null, null, 'unknown'],
  ])('with status %s, progress %s and reason "%s" is %s', (status, progress, failReason, expected) =>
    expect(reportedTask({ ...task, status, progress, failReason })?.status).toBe(expected),
  );

  test.each([
    ['45%', 45],
    ['45', 45],
    [45, 45],
    [' 7.9 % ', 7],
    ['101%', null],
    ['-1%', null],
    [-1, null],
    ['half', null],
    [null, null],
    [{}, null],
  ])('with progress %j is at %j per cent', (progress, expected) =>
    expect(reportedTask({ ...task, progress: progress as never })?.progress).toBe(expected),
  );

  test('keeps addresses of the web alone, of films too', () => {
    const read = reportedTask({
      ...task,
      imageUrl: 'javascript:alert(1)',
      videoUrl: 'https://cdn.example/1.mp4',
      videoUrls: [{ url: 'https://cdn.example/2.mp4' }, 'https://cdn.example/1.mp4', { url: 'file:///etc/passwd' }],
    });
    expect(read?.result).toMatchObject({
      imageUrl: '',
      videoUrls: ['https://cdn.example/1.mp4', 'https://cdn.example/2.mp4'],
    });
  });

  test('of any shape is read or left out, and stays small', () =>
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...Object.keys(task)), fc.jsonValue()), (members) => {
        const read = reportedTask(members as never);
        if (read !== null) expect(JSON.stringify(read).length).toBeLessThan(400_000);
      }),
    ));
});
