import { describe, expect, test } from 'vitest';
import type { Settings } from '../../../src/application/options/settings.js';
import type { TaskView } from '../../../src/application/ports/task-ports.js';
import { RelayError } from '../../../src/relay/contracts/errors.js';
import { sunoCaller } from '../../../src/relay/dialects/suno/dialect.js';
import { sunoEndpoint } from '../../../src/relay/dialects/suno/endpoints/submit.js';
import type { JsonObject } from '../../../src/relay/json/json.js';

/* Songs and lyrics as their clients ask for them, and how a refusal is written for them. */

describe('a refusal in the words of Suno’s clients', () => {
  test.each([
    [new RelayError(400, 'invalid_request', 'prompt_empty'), { code: 'invalid_request', message: 'prompt_empty' }],
    [new RelayError(403, 'insufficient_user_quota', 'short'), { code: 'quota_not_enough', message: 'short' }],
    [new RelayError(403, 'token_budget_exceeded', 'short'), { code: 'quota_not_enough', message: 'short' }],
    [new RelayError(401, 'invalid_api_key', 'no'), { code: 'invalid_api_key', message: 'no' }],
    [new RelayError(500, null, 'x', { type: 'upstream_error' }), { code: 'upstream_error', message: 'x' }],
    // Upstream's own account: its code is its own.
    [
      new RelayError(500, 'insufficient_user_quota', 'x', { type: 'upstream_error' }),
      { code: 'insufficient_user_quota', message: 'x' },
    ],
  ])('has a code, a message and no data: %#', (error, expected) => {
    expect(JSON.parse(sunoCaller.errorBody(error, 'r1'))).toEqual({ ...expected, data: null });
  });
});

const music = sunoEndpoint('music');
const lyrics = sunoEndpoint('lyrics');
const wrong = (endpoint: typeof music, body: JsonObject) => endpoint.invalid(body, null);

describe('a request for a song', () => {
  test('needs no member', () => {
    expect(wrong(music, {})).toBeNull();
    expect(wrong(music, { prompt: null, continue_at: 0, make_instrumental: true, tags: '' })).toBeNull();
  });

  test.each([
    [{ prompt: 7 }, 'prompt', 'prompt must be a text'],
    [{ tags: ['folk'] }, 'tags', 'tags must be a text'],
    [{ prompt: 'x'.repeat(10_001) }, 'prompt', 'prompt must be at most 10000 characters'],
    [{ continue_at: '7' }, 'continue_at', 'continue_at must be a number of seconds from 0'],
    [{ infill_end_s: -1 }, 'infill_end_s', 'infill_end_s must be a number of seconds from 0'],
    [{ make_instrumental: 'yes' }, 'make_instrumental', 'make_instrumental must be true or false'],
    [{ continue_clip_id: 'c1' }, 'task_id', 'task id is required'],
  ] as const)('is refused by the name of its member: %j', (body, param, message) => {
    expect(wrong(music, body as unknown as JsonObject)).toEqual({ code: 'invalid_request', param, message });
  });

  test('has the task that it names as its parent, whether it continues a clip of it or not', () => {
    for (const body of [{}, { task_id: '' }, { task_id: null }, { continue_clip_id: 'c1' }])
      expect(music.task?.parent?.(body)).toBeNull();
    for (const body of [{ task_id: 't1' }, { task_id: 't1', continue_clip_id: 'c1' }])
      expect(music.task?.parent?.(body)).toEqual({ id: 't1', param: 'task_id' });
    expect(lyrics.task?.parent).toBeUndefined();
  });

  const refusalOf = (result: string | undefined, clip: string | null) =>
    music.task?.notFrom?.(
      { content: result === undefined ? null : { result, urls: [] } } as TaskView,
      { task_id: 't1', continue_clip_id: clip },
      {} as Settings,
    );

  test('continues a clip of that task', () => {
    expect(refusalOf('[{"id":"c0"},{"id":"c1"}]', 'c1')).toBeNull();
    expect(refusalOf('{"id":"c1"}', 'c1')).toBeNull();
    expect(refusalOf(undefined, null)).toBeNull();
  });

  test.each([
    ['has other clips', '[{"id":"c0"},{"id":7},"c1",{"other":"c1"}]'],
    ['has no clips', '{"text":"c1"}'],
    ['has said nothing yet', undefined],
  ])('is refused where that task %s', (_what, result) => {
    const refused = refusalOf(result, 'c1');
    expect(refused).toMatchObject({ status: 400, param: 'continue_clip_id' });
    expect(refused && JSON.parse(sunoCaller.errorBody(refused, 'r1'))).toEqual({
      ...{ code: 'invalid_request', message: 'continue_clip_id must be a clip of the task task_id', data: null },
    });
  });

  test('shows all its texts to the word filter', () => {
    const body = { prompt: 'a', gpt_description_prompt: 'b', tags: 'c', title: 'd', continued_aligned_prompt: 'e' };
    expect(music.promptTexts(body).sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
  });
});

describe('a request for lyrics', () => {
  test.each([{}, { prompt: '' }, { prompt: null }])('is refused without a prompt: %j', (body) => {
    expect(wrong(lyrics, body)).toEqual({ code: 'invalid_request', param: 'prompt', message: 'prompt_empty' });
  });

  test('names the model of its action, whatever its member model says', () => {
    expect(lyrics.modelOf?.({ model: 'gpt-4o' })).toBe('suno_lyrics');
    expect(lyrics.task?.action({})).toBe('LYRICS');
  });
});
