import { describe, expect, test } from 'vitest';
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

  test('continues a task where it names a clip of it', () => {
    expect(music.task?.parent?.({ task_id: 't1' })).toBeNull();
    expect(music.task?.parent?.({ continue_clip_id: 'c1' })).toBeNull();
    expect(music.task?.parent?.({ task_id: 't1', continue_clip_id: 'c1' })).toEqual({ id: 't1', param: 'task_id' });
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
