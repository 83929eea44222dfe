import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Mode } from '../../../src/domain/channel/provider.js';
import { openai } from '../../../src/relay/providers/openai.js';
import { bodyOf, contentTypeOf, type FormFile } from '../../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from './golden.js';

/* What providers are asked that hear and speak, and how their transcripts are read. */

const file: FormFile = { name: 'file', fileName: 'a.mp3', type: 'audio/mpeg', bytes: Buffer.from([1, 2, 13, 10, 0]) };
function asked(type: number, mode: Mode, paramOverride: Record<string, string | number> | null = null) {
  const provider = providerOfType(type);
  const channel = { ...plainChannel, baseUrl: 'https://upstream.example', paramOverride };
  const fields = { model: 'asked', language: 'de', 'include[]': ['a', 'b'], own: 'kept' };
  const body = mode === 'speech' ? { model: 'asked', input: 'Hello.', voice: 'alloy', speed: 1.5 } : fields;
  const caller = { ...callerOf(mode, body), files: mode === 'speech' ? null : [file] };
  return provider.protocol.request({ provider, channel, caller, model: 'sent', options: usualOptions });
}

const azureVersion = 'api-version=2024-12-01-preview';

describe('the address of an audio request', () => {
  test.each([
    [1, 'speech', 'https://upstream.example/v1/audio/speech'],
    [1, 'transcription', 'https://upstream.example/v1/audio/transcriptions'],
    [1, 'translation', 'https://upstream.example/v1/audio/translations'],
    [3, 'speech', `https://upstream.example/openai/deployments/sent/audio/speech?${azureVersion}`],
    [3, 'transcription', `https://upstream.example/openai/deployments/sent/audio/transcriptions?${azureVersion}`],
    [3, 'translation', `https://upstream.example/openai/deployments/sent/audio/translations?${azureVersion}`],
    [8, 'transcription', 'https://upstream.example'],
    [12, 'transcription', 'https://upstream.example/v1/audio/transcriptions'],
    [26, 'speech', 'https://upstream.example/api/paas/v4/audio/speech'],
    [26, 'transcription', 'https://upstream.example/api/paas/v4/audio/transcriptions'],
    [40, 'speech', 'https://upstream.example/v1/audio/speech'],
    [40, 'transcription', 'https://upstream.example/v1/audio/transcriptions'],
    [42, 'transcription', 'https://upstream.example/v1/audio/transcriptions'],
    [47, 'transcription', 'https://upstream.example/v1/audio/transcriptions'],
  ] as const)('of type %i for %s is the one that its provider documents', (type, mode, url) => {
    expect(providerOfType(type).modes).toContain(mode);
    expect(asked(type, mode).url).toBe(url);
  });
});

describe('an audio form', () => {
  test('has the fields and the file that the platform expects, the mapped model and the operator’s parameters', async () => {
    const { content, headers } = asked(1, 'transcription', { temperature: 0.2, language: 'en' });
    const type = contentTypeOf(content) ?? '';
    expect(headers).toMatchObject({ 'content-type': type, accept: '*/*' });
    const body = bodyOf(content);
    if (!Buffer.isBuffer(body)) throw new Error('no bytes');
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
    const sound = form.get('file');
    if (sound === null || typeof sound === 'string') throw new Error('no file');
    expect([sound.name, sound.type, Buffer.from(await sound.arrayBuffer())]).toEqual([
      'a.mp3',
      'audio/mpeg',
      file.bytes,
    ]);
    form.delete('file');
    expect([...form]).toEqual([
      ['model', 'sent'],
      ['language', 'en'],
      ['include[]', 'a'],
      ['include[]', 'b'],
      ['own', 'kept'],
      ['temperature', '0.2'],
    ]);
  });

  test('has a new boundary each time', () => {
    expect(contentTypeOf(asked(1, 'transcription').content)).not.toBe(contentTypeOf(asked(1, 'transcription').content));
  });
});

const read = (body: string, type: string | null = 'application/json', format = 'json') => {
  const channel = { ...plainChannel, type: 1, baseUrl: 'https://upstream.example' };
  const caller = { ...callerOf('transcription', { model: 'm', response_format: format }), files: [file] };
  const info = { callId: 'c', model: 'm', createdAt: 0 };
  const headers = type === null ? {} : { 'content-type': type };
  return openai.protocol.answer({
    provider: openai,
    channel,
    caller,
    status: 200,
    headers,
    body: Buffer.from(body),
    info,
  });
};

describe('the usage of a transcript', () => {
  const tokens = { type: 'tokens', input_tokens: 30, output_tokens: 7 };

  test.each([
    ['seconds', { usage: { type: 'duration', seconds: 37 } }, { seconds: 37 }],
    ['seconds begun', { duration: 36.7 }, { seconds: 37 }],
    ['seconds as text', { duration: '36.7' }, { seconds: 37 }],
    ['seconds of audio beside tokens', { usage: { prompt_audio_seconds: 9, prompt_tokens: 4 } }, { seconds: 9 }],
    [
      'tokens by kind',
      { usage: { ...tokens, input_token_details: { audio_tokens: 20, text_tokens: 10 } } },
      { input: 10, audioInput: 20, output: 7 },
    ],
    ['tokens of audio, where no kinds are given', { usage: tokens }, { input: 0, audioInput: 30, output: 7 }],
    ['nothing', {}, null],
    ['no number', { duration: 'long', usage: { seconds: -1 } }, null],
    ['an infinite number', { duration: 'Infinity' }, null],
  ])('is read: %s', (_what, reported, usage) => {
    const answer = read(JSON.stringify({ text: 'Hello.', ...reported }));
    expect(answer).toMatchObject({ ok: true, usage });
    expect(answer.ok && answer.generated.said.toString()).toBe('Hello.');
  });

  test('of subtitles is counted by their text', () => {
    const answer = read(
      'WEBVTT\n\n1\n00:00.000 --> 00:01.000\nGuten Tag.\n\n2\n00:01.000 --> 00:02.000\n42 Tage.\n',
      'text/plain',
      'vtt',
    );
    expect(answer.ok && answer.generated.said.toString().split('\n').filter(Boolean)).toEqual([
      'Guten Tag.',
      '42 Tage.',
    ]);
    expect(answer).toMatchObject({ textType: 'text/vtt; charset=utf-8' });
  });

  test.each([
    [
      'an error inside a success',
      '{"error":{"message":"overloaded","type":"server_error","code":"503"}}',
      'application/json',
      'text',
      503,
    ],
    ['a page', '<html>', 'text/html', 'text', 502],
    ['no JSON', 'Hello.', 'text/plain', 'json', 502],
    ['no text in it', '{"words":[]}', 'application/json', 'verbose_json', 502],
  ])('of %s is refused as not a transcript', (_what, body, type, format, status) => {
    const answer = read(body, type, format);
    expect(answer.ok ? null : answer.error.status).toBe(status);
  });
});

const folder = join(process.env.WIRE_FIXTURES ?? '', 'openai/transcription');
const present = (process.env.WIRE_FIXTURES ?? '') !== '' && existsSync(folder);

test.runIf(present)('the recorded transcript reports its text and its length', () => {
  const answer = read(readFileSync(join(folder, 'openai-transcription.json'), 'utf8'));
  expect(answer).toMatchObject({ ok: true, usage: { seconds: 37 }, untouched: true });
});
