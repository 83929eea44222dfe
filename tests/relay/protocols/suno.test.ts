import { describe, expect, test } from 'vitest';
import type { TaskView } from '../../../src/application/ports/task-ports.js';
import type { CallerRequest } from '../../../src/relay/contracts/protocol.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { sunoTasks } from '../../../src/relay/protocols/suno/tasks.js';
import { bodyOf } from '../../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from '../providers/golden.js';

/* What a Suno server is asked, and what is read of what it answers. */

const provider = providerOfType(36);
const channel = { ...plainChannel, baseUrl: 'https://suno.example' };
const callerFor = (action: string, body: JsonObject, parent: TaskView | null = null): CallerRequest => ({
  ...callerOf('task', body),
  task: { action, parent },
});
const asked = (action: string, body: JsonObject, more: Partial<typeof channel> = {}, parent: TaskView | null = null) =>
  sunoTasks.submit.request({
    ...{ provider, channel: { ...channel, ...more }, model: 'suno_music', options: usualOptions },
    caller: callerFor(action, body, parent),
  });
const sent = (...of: Parameters<typeof asked>) => JSON.parse(String(bodyOf(asked(...of).content)));

/** A song of the caller's own, as its server knows it. */
const ownSong = { facts: { upstreamId: 't1', publicId: 't1' } } as TaskView;

describe('a request of a song', () => {
  test('goes to the action in upper case with the key as a bearer token, else in lower case', () => {
    expect(asked('MUSIC', { prompt: 'la' })).toMatchObject({
      method: 'POST',
      url: 'https://suno.example/suno/submit/MUSIC',
      urlIfMissing: 'https://suno.example/suno/submit/music',
      headers: { authorization: 'Bearer sk-plain-0123456789', 'content-type': 'application/json' },
    });
  });

  test('carries the members that servers are known to take, those of infills too, and no others', () => {
    const known = {
      ...{ prompt: 'la', mv: 'chirp-v4', title: 'T', tags: 'folk', make_instrumental: false },
      ...{ continue_at: 12.5, continue_clip_id: 'c1', task_id: 't1', task: 'infill' },
      ...{ infill_start_s: 3, infill_end_s: 9, continued_aligned_prompt: 'lo' },
    };
    const body = { ...known, model: 'suno_music', cover_clip_id: 'of-somebody', gpt_description_prompt: null };
    expect(sent('MUSIC', body, {}, ownSong)).toEqual(known);
  });

  test.each(['t1', '', 7])('names no task that is not known to be its caller’s: %s', (task_id) => {
    expect(sent('MUSIC', { prompt: 'la', mv: 'chirp-v4', task_id })).toEqual({ prompt: 'la', mv: 'chirp-v4' });
    expect(sent('LYRICS', { prompt: 'la', task_id }, {}, ownSong)).toEqual({ prompt: 'la' });
  });

  test('names the oldest version where its caller names none, and what an operator adds', () => {
    expect(sent('MUSIC', { prompt: 'la', mv: '' })).toEqual({ prompt: 'la', mv: 'chirp-v3-0' });
    expect(sent('LYRICS', { prompt: 'la', mv: 'chirp-v4' })).toEqual({ prompt: 'la' });
    expect(sent('LYRICS', { prompt: 'la' }, { paramOverride: { extra: 1 } })).toEqual({ prompt: 'la', extra: 1 });
  });
});

const answered = (status: number, body: string) =>
  sunoTasks.submit.answer({
    ...{ provider, channel, caller: callerFor('MUSIC', { prompt: 'la' }), status, headers: {} },
    ...{ body: Buffer.from(body), info: { callId: 'r', model: 'suno_music', createdAt: 0 } },
  });
const reply = (code: string, data: unknown = null, message = '') => JSON.stringify({ code, message, data });

describe('an answer to a request of a song', () => {
  test('with the id of a task says that it is taken, and is passed on byte for byte', () => {
    const body = '{ "code":"success","message":"", "data":"t-1" }';
    const answer = answered(200, body);
    if (!answer.ok) throw new Error('not taken');
    expect([answer.received.toString(), answer.untouched, answer.usage]).toEqual([body, true, null]);
    expect(answer.generated.task).toEqual({
      ...{ upstreamId: 't-1', action: 'MUSIC', status: 'not-started', progress: 0 },
      content: { prompt: 'la', urls: [] },
    });
  });

  test.each([
    ['another code', 200, reply('quota_exceeded', null, 'no credits'), { status: 500, code: 'quota_exceeded' }],
    ['a code and an error status', 503, reply('busy', null, 'later'), { status: 503, code: 'busy' }],
    ['a success that its status contradicts', 400, reply('success', 't-1'), { status: 400, code: 'success' }],
    ['a refusal of the request', 400, 'no', { status: 400, code: 'bad_response_status_code' }],
    ['a path that is not there', 404, '<html>', { status: 404, code: 'bad_response_status_code' }],
  ] as const)('with %s says that it is not taken', (_what, status, body, error) => {
    expect(answered(status, body)).toMatchObject({ ok: false, error });
    expect(answered(status, body)).not.toHaveProperty('costUnknown');
  });

  test.each([
    ['a page', 200, '<html>fine</html>', 502],
    ['a page of a proxy', 502, '<html>Bad Gateway</html>', 502],
    ['no id', 200, reply('success'), 502],
    ['an id that is none', 200, reply('success', '../../etc'), 502],
    ['half of an answer', 200, '{"code":"succ', 502],
    ['no code', 200, '{}', 502],
    ['nothing', 504, '', 504],
  ] as const)('with %s leaves it open whether it is taken', (_what, status, body, shown) => {
    expect(answered(status, body)).toMatchObject({ ok: false, costUnknown: true, error: { status: shown } });
  });

  test('shows neither the key nor the address of its channel in what it says', () => {
    const answer = answered(400, reply('bad', null, `sk-plain-0123456789 at https://suno.example/x`));
    expect(JSON.stringify(answer)).not.toMatch(/0123456789|suno\.example/);
  });
});

const ask = (...ids: string[]) => ids.map((upstreamId) => ({ upstreamId, action: 'MUSIC', model: 'suno_music' }));
const listed = (...tasks: unknown[]) => Buffer.from(reply('success', tasks));

describe('a list of songs', () => {
  test('is requested by the ids of all tasks in one request', () => {
    const request = sunoTasks.poll(channel, ask('a', 'b'));
    expect(request).toMatchObject({ method: 'POST', url: 'https://suno.example/suno/fetch' });
    expect(JSON.parse(String(bodyOf(request.content)))).toEqual({ ids: ['a', 'b'] });
  });

  test('says of each task its status, its times and where its sound is', () => {
    const clip = {
      id: 'c1',
      audio_url: 'https://cdn.example/a.mp3',
      video_url: '',
      image_url: null,
      status: 'complete',
    };
    const task = { task_id: 'a', status: 'SUCCESS', start_time: 2, finish_time: 3, data: [clip] };
    expect(sunoTasks.read(200, listed(task), ask('a'))).toEqual([
      {
        ...{ upstreamId: 'a', status: 'succeeded', progress: 100, startedAt: 2000, finishedAt: 3000 },
        content: { result: JSON.stringify([clip]), urls: ['https://cdn.example/a.mp3'] },
      },
    ]);
  });

  test.each([
    ['NOT_START', 'not-started'],
    ['SUBMITTED', 'submitted'],
    ['QUEUED', 'queued'],
    ['IN_PROGRESS', 'in-progress'],
    ['SUCCESS', 'succeeded'],
    ['FAILURE', 'failed'],
    ['PAUSED', 'unknown'],
    ['constructor', 'unknown'],
    [undefined, 'unknown'],
    [7, 'unknown'],
  ])('reads status %s as %s', (status, expected) => {
    expect(sunoTasks.read(200, listed({ task_id: 'a', status }), ask('a'))).toMatchObject([{ status: expected }]);
  });

  test('with a reason for failing says that the task has failed, whatever its status', () => {
    const task = { task_id: 'a', status: 'IN_PROGRESS', fail_reason: 'moderated', progress: '40%' };
    expect(sunoTasks.read(200, listed(task), ask('a'))).toMatchObject([
      { status: 'failed', progress: 40, content: { failReason: 'moderated' } },
    ]);
  });

  test('says nothing of tasks that were not requested, and of each task once', () => {
    const task = (task_id: unknown, status: string) => ({ task_id, status });
    const tasks = [task('other', 'FAILURE'), task('a', 'QUEUED'), task('a', 'FAILURE'), task(7, 'FAILURE'), null, 'x'];
    expect(sunoTasks.read(200, listed(...tasks), ask('a', 'b'))).toMatchObject([{ upstreamId: 'a', status: 'queued' }]);
  });

  test.each([
    ['a page', 200, '<html>'],
    ['an error status', 500, reply('success', [])],
    ['another code', 200, reply('error', [])],
    ['no list', 200, reply('success', {})],
    ['a list that is nested too deeply', 200, reply('success', []).replace('[]', '['.repeat(5000) + ']'.repeat(5000))],
  ] as const)('that is %s says nothing of any task', (_what, status, body) => {
    expect(sunoTasks.read(status, Buffer.from(body), ask('a'))).toHaveProperty('unreached');
  });

  test('with invalid times and progress leaves these unknown', () => {
    for (const odd of [-1, 1e300, '3', null, Number.MAX_SAFE_INTEGER])
      expect(
        sunoTasks.read(200, listed({ task_id: 'a', status: 'QUEUED', start_time: odd, progress: '1e9%' }), ask('a')),
      ).toMatchObject([{ startedAt: null, progress: null }]);
  });
});
