import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from '../providers/golden.js';

/* Transcripts at Cloudflare: what is sent, and in which forms they are answered. */

const provider = providerOfType(39);
const older = '@cf/openai/whisper';
const newer = '@cf/openai/whisper-large-v3-turbo';
const bytes = Buffer.from('RIFF sound');
const channel = { ...plainChannel, other: 'account-1' };

const callerFor = (model: string, body: JsonObject = {}, mode: 'transcription' | 'translation' = 'transcription') => ({
  ...callerOf(mode, { model, ...body }),
  files: [{ name: 'file', fileName: 'a.wav', type: 'audio/wav', bytes }],
});

const request = (model: string, ...rest: [JsonObject?, ('transcription' | 'translation')?]) =>
  provider.protocol.request({ provider, channel, caller: callerFor(model, ...rest), model, options: usualOptions });

const vtt = 'WEBVTT\n\n00:00.000 --> 00:01.000\nA cat.';
const segment = { start: 0, end: 1, text: 'A cat.', words: [{ word: 'A', start: 0, end: 0.2 }] };
const result = { text: 'A cat.', segments: [segment], vtt, transcription_info: { language: 'en', duration: 5.2 } };

const answer = (body: JsonObject, reported: unknown = { result, success: true }, status = 200) => {
  const read = provider.protocol.answer({
    provider,
    channel,
    caller: callerFor(newer, body),
    status,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(reported)),
    info: { callId: 'call-1', model: newer, createdAt: 0 },
  });
  return read;
};

describe('a recording for Cloudflare', () => {
  test('goes as it is to a model that takes nothing else', () => {
    expect(request(older, { language: 'en' })).toMatchObject({
      url: 'https://api.cloudflare.com/client/v4/accounts/account-1/ai/run/@cf/openai/whisper',
      headers: { 'content-type': 'application/octet-stream' },
      content: { kind: 'bytes', bytes },
    });
  });

  test('goes in JSON to a model that takes a language and a prompt', () => {
    const { content } = request(newer, { language: 'en', prompt: 'Cats.' });
    expect(JSON.parse(content.kind === 'json' ? content.text : '')).toEqual({
      ...{ audio: bytes.toString('base64'), task: 'transcribe' },
      ...{ language: 'en', initial_prompt: 'Cats.' },
    });
  });

  test('is translated where the model can, and refused by name where not', () => {
    const { content } = request(newer, {}, 'translation');
    expect(content).toMatchObject({ text: expect.stringContaining('"task":"translate"') });
    expect(() => request(older, {}, 'translation')).toThrow('no translations');
    expect(() => request(newer, { response_format: 'srt' })).toThrow('response_format: ');
  });
});

describe('a transcript of Cloudflare', () => {
  test.each([
    [{}, '{"text":"A cat."}'],
    [{ response_format: 'text' }, 'A cat.'],
    [{ response_format: 'vtt' }, vtt],
  ] satisfies [JsonObject, string][])('for the form %j is written so', (body, expected) => {
    const read = answer(body);
    if (!read.ok) throw new Error(read.error.message);
    expect(read.untouched ? read.received.toString() : JSON.stringify(read.body)).toBe(expected);
    expect(read.usage).toEqual({ seconds: 6 });
  });

  test('for the verbose form has its segments, words, language and length', () => {
    const { words, ...rest } = segment;
    expect(answer({ response_format: 'verbose_json' })).toMatchObject({
      body: {
        task: 'transcribe',
        language: 'en',
        duration: 5.2,
        text: 'A cat.',
        segments: [{ id: 0, ...rest }],
        words,
      },
    });
  });

  test.each([
    [{ success: false, errors: [{ code: 10000, message: 'Authentication error' }] }, 200, 401],
    [{ success: false, errors: [{ code: 3036, message: 'no neurons left' }] }, 429, 429],
    [{ success: true, result: {} }, 200, 502],
    [[], 200, 502],
  ])('that is %j with status %i is refused with %i', (reported, status, refused) => {
    expect(answer({}, reported, status)).toMatchObject({ ok: false, error: { status: refused } });
  });

  test('without subtitles is refused where its caller requested subtitles', () => {
    const read = answer({ response_format: 'vtt' }, { success: true, result: { text: 'A cat.' } });
    expect(read).toMatchObject({ ok: false, error: { status: 502 } });
  });
});
