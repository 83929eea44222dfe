import { describe, expect, test } from 'vitest';
import type { TaskView } from '../../../src/application/ports/task-ports.js';
import { ApiKeyId, CallId, ChannelId, TaskId, UserId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { RelayError } from '../../../src/relay/contracts/errors.js';
import { midjourneyCaller, pictureCaller } from '../../../src/relay/dialects/midjourney/dialect.js';
import { writtenTask } from '../../../src/relay/dialects/midjourney/written-task.js';

const bodyOf = (error: RelayError) => JSON.parse(midjourneyCaller.errorBody(error, 'id-1')) as unknown;
const refusal = (status: number, code: string, message: string) =>
  new RelayError(status, code, message, { type: 'invalid_request_error' });

describe('a refusal in words of a Midjourney proxy', () => {
  test.each([
    [refusal(400, 'prompt_is_required', ''), 'prompt_is_required '],
    [refusal(400, 'index_parse_failed', 'index must be 1 to 4'), 'index_parse_failed index must be 1 to 4'],
    [refusal(400, 'task_not_exist', 'task_not_exist'), 'task_not_found '],
    [refusal(400, 'task_channel_disable', 'it is disabled'), 'task_channel_disable it is disabled'],
  ])('%s is its word, a space and what there is beside it', (error, description) =>
    expect(bodyOf(error)).toEqual({ description, type: 'upstream_error', code: 4 }),
  );

  test('without enough quota is quota_not_enough with status 400', () => {
    for (const code of ['insufficient_user_quota', 'pre_consume_token_quota_failed', 'token_budget_exceeded']) {
      const error = new RelayError(403, code, 'the balance is 3');
      expect(bodyOf(error)).toEqual({ description: 'quota_not_enough ', type: 'upstream_error', code: 4 });
      expect(midjourneyCaller.statusOf?.(error)).toBe(400);
    }
  });

  test.each(['do_request_failed', 'bad_response_body', 'read_response_body_failed', 'upstream_saturated'])(
    'of an upstream (%s) has code 5, and the request id once',
    (code) =>
      expect(bodyOf(new RelayError(502, code, 'no answer'))).toEqual({
        ...{ description: 'no answer (request id: id-1)', type: 'gateway_error', code: 5 },
      }),
  );

  test('of the proxy itself is passed on, with status 429 where it is saturated', () => {
    const passedOn = { code: 24, description: 'banned', properties: { bannedWord: 'x' }, result: '' };
    const error = new RelayError(400, '24', 'banned', { passedOn });
    expect(bodyOf(error)).toEqual(passedOn);
    expect(midjourneyCaller.statusOf?.(error)).toBe(200);
    expect(midjourneyCaller.statusOf?.(new RelayError(400, '30', '', { passedOn: { ...passedOn, code: 30 } }))).toBe(
      429,
    );
  });

  test('of a picture is its message alone', () =>
    expect(pictureCaller.errorBody(new RelayError(400, 'x', 'midjourney_task_not_found'), 'id-1')).toBe(
      '{"error":"midjourney_task_not_found"}',
    ));
});

describe('a member in another case', () => {
  test.each([{ TaskId: '1' }, { notifyhook: 'x' }, { BASE64ARRAY: [] }])('%j is refused by name', (body) =>
    expect(midjourneyCaller.misspelled(body as never)).toMatchObject({ param: Object.keys(body)[0] }),
  );

  test('inside what is the proxy’s own is left alone', () =>
    expect(midjourneyCaller.misspelled({ taskId: '1', chooseSameChannel: true, extra: { taskid: 1 } })).toBeNull());
});

const view: TaskView = {
  facts: {
    ...{ taskId: TaskId(17), userId: UserId(3), apiKeyId: ApiKeyId(4), apiKeyName: 'k', group: 'default' },
    ...{ model: 'mj_imagine', callId: CallId('20261128120000000000000AAAAAAAA'), channelId: ChannelId(2) },
    ...{ platform: 'midjourney', action: 'IMAGINE', upstreamId: '171', publicId: '171', parent: null },
  },
  ...{ status: 'in-progress', progress: 45, reason: null, charged: null, refunded: false },
  ...{ submittedAt: Instant(1_000), startedAt: Instant(2_000), finishedAt: null },
  content: {
    ...{ prompt: 'cat', promptEn: 'cat', state: 's', urls: ['https://cdn.example/1.png'] },
    result: JSON.stringify({
      imageUrl: 'https://cdn.example/1.png',
      buttons: [{ label: 'U1' }],
      properties: { finalPrompt: 'p' },
    }),
  },
};
const midjourney = {
  ...{ notifies: false, takesAccountFilter: false, clearsModes: false, forwardsPictures: true, checksParent: true },
};
const written = (task: TaskView, rest: object = {}, siteAddress = 'https://site.example') =>
  writtenTask(
    { vault: { hash: (text) => text }, settings: { midjourney: { ...midjourney, ...rest }, siteAddress }, now: 5 },
    task,
  );

describe('a task as clients of a Midjourney proxy read it', () => {
  test('has every member of the interface', () => {
    const task = written(view);
    expect(Object.keys(task)).toEqual([
      ...[
        'id',
        'action',
        'customId',
        'botType',
        'prompt',
        'promptEn',
        'description',
        'state',
        'submitTime',
        'startTime',
      ],
      ...['finishTime', 'imageUrl', 'status', 'progress', 'failReason', 'buttons', 'maskBase64', 'properties'],
    ]);
    expect(task).toMatchObject({
      ...{ id: '171', status: 'IN_PROGRESS', progress: '45%', submitTime: 1_000, startTime: 2_000, finishTime: 0 },
      ...{ buttons: [{ label: 'U1' }], properties: { finalPrompt: 'p', finalZhPrompt: '' } },
    });
  });

  test.each([
    [{}, 'https://site.example', 'in-progress', /^https:\/\/site\.example\/mj\/image\/17\.[\w-]{22}\?rand=5000000$/],
    [{}, 'https://site.example', 'succeeded', /^https:\/\/site\.example\/mj\/image\/17\.[\w-]{22}$/],
    [{}, '', 'succeeded', /^https:\/\/cdn\.example\/1\.png$/],
    [{ forwardsPictures: false }, 'https://site.example', 'succeeded', /^https:\/\/cdn\.example\/1\.png$/],
  ] as const)(
    'with %j at the site "%s" and status %s shows the picture of that address',
    (rest, site, status, address) => expect(written({ ...view, status }, rest, site).imageUrl).toMatch(address),
  );

  test('that failed is at 100 %, with the reason', () => {
    const failed = { ...view, status: 'failed', reason: 'timed-out' } as const;
    expect(written(failed)).toMatchObject({ status: 'FAILURE', progress: '100%', failReason: 'the task timed out' });
  });

  test('whose content is gone has its facts', () =>
    expect(written({ ...view, content: null })).toMatchObject({ id: '171', prompt: '', imageUrl: '', buttons: [] }));
});
