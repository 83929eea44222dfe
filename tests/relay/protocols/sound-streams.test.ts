import { describe, expect, test } from 'vitest';
import type { Usage } from '../../../src/domain/call/usage.js';
import type { Mode } from '../../../src/domain/channel/provider.js';
import { speechCaller, transcriptsCaller } from '../../../src/relay/dialects/openai/sound-dialect.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { TranscriptAsStream } from '../../../src/relay/protocols/openai/transcript-as-stream.js';
import { callerOf, plainChannel, providerOfType } from '../providers/golden.js';

/* Transcripts that come while a recording is heard, and speech in events; cut anywhere. */

const said = (...events: readonly object[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
const named = (...events: readonly JsonObject[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

interface Asked {
  readonly type?: number;
  readonly mode?: Mode;
  readonly comesAsSound?: boolean;
  readonly settled?: Usage;
}

/** What the caller gets before the settlement and after it, and what is known of the answer. */
function play(
  pieces: readonly Buffer[],
  { type = 1, mode = 'transcription', comesAsSound = false, settled }: Asked = {},
) {
  const provider = providerOfType(type);
  const dialect = mode === 'speech' ? speechCaller : transcriptsCaller;
  const caller = { ...callerOf(mode, { model: 'm' }), dialect, stream: true };
  const info = { callId: 'call-1', model: 'm', createdAt: 1 };
  const stream = provider.protocol.stream({ provider, channel: plainChannel, caller, info, comesAsSound });
  const steps = pieces.map((piece) => stream.push(piece));
  if (!steps.some(({ finished }) => finished)) steps.push(stream.end());
  return {
    before: Buffer.concat(steps.flatMap(({ bytes }) => bytes ?? [])).toString('utf8'),
    closing: stream.closing(settled ?? stream.usage ?? {}).toString('utf8'),
    ...{ usage: stream.usage, words: stream.generated.said.toString(), ended: stream.generated.finishReason },
    error: steps.find(({ error }) => error !== null)?.error?.message ?? null,
  };
}

const twice = (text: string, at: number): Buffer[] => {
  const bytes = Buffer.from(text);
  return [Buffer.from(bytes.subarray(0, at)), Buffer.from(bytes.subarray(at))];
};

const usage = { type: 'tokens', input_tokens: 30, output_tokens: 7, total_tokens: 37 };
const delta = (words: string) => ({ type: 'transcript.text.delta', delta: words });
const done = { type: 'transcript.text.done', text: 'Grüß Gott.', usage };
const segment = { type: 'transcript.text.segment', id: '1', start: 0, end: 1.5, speaker: 'A', text: 'Grüß Gott.' };

describe('a streamed transcript', () => {
  const whole = said(delta('Grüß '), delta('Gott.'), done);
  const expected = {
    ...{ before: named(delta('Grüß '), delta('Gott.')), closing: named(done), words: 'Grüß Gott.', ended: 'stop' },
    ...{ usage: { input: 0, audioInput: 30, output: 7 }, error: null },
  };

  test('is the same when its stream is cut at every byte, and its last event waits for the settlement', () => {
    for (let at = 0; at <= Buffer.byteLength(whole); at++) expect(play(twice(whole, at))).toEqual(expected);
    expect(play([Buffer.from(whole.replaceAll('\n', '\r\n'))])).toEqual(expected);
  });

  test('has the charged usage in its last event where that is another', () => {
    const { closing } = play([Buffer.from(whole)], { settled: { input: 1, audioInput: 20, output: 9 } });
    expect(JSON.parse(closing.split('data: ')[1] ?? '').usage).toEqual({
      ...{ type: 'tokens', input_tokens: 21, output_tokens: 9, total_tokens: 30 },
      input_token_details: { audio_tokens: 20, text_tokens: 1 },
    });
  });

  test('of several speakers comes by segments, whose words are counted once', () => {
    const { before, words } = play([Buffer.from(said(segment, done))]);
    expect([before, words]).toEqual([named(segment), 'Grüß Gott.']);
    expect(play([Buffer.from(said(delta('Grüß Gott.'), segment, done))]).words).toBe('Grüß Gott.');
  });

  test.each([
    [
      'Mistral’s',
      42,
      said(
        { type: 'transcription.language', audio_language: 'de' },
        { type: 'transcription.text.delta', text: 'Grüß Gott.' },
        { type: 'transcription.segment', text: 'Grüß Gott.', start: 0, end: 1.5, speaker_id: 'A' },
        { type: 'transcription.done', text: 'Grüß Gott.', usage: { prompt_audio_seconds: 2, prompt_tokens: 4 } },
      ),
      named(delta('Grüß Gott.'), { ...segment, id: '0' }),
      { seconds: 2 },
    ],
    [
      'vLLM’s',
      8,
      `${said(
        { object: 'transcription.chunk', choices: [{ delta: { content: 'Grüß ' }, finish_reason: null }] },
        { object: 'transcription.chunk', choices: [{ delta: { content: 'Gott.' }, finish_reason: 'stop' }] },
      )}data: [DONE]\n\n`,
      named(delta('Grüß '), delta('Gott.')),
      null,
    ],
  ])('in %s words is put into OpenAI’s', (_whose, type, sent, before, reported) => {
    const played = play([Buffer.from(sent)], { type });
    expect(played).toMatchObject({ before, usage: reported, words: 'Grüß Gott.', ended: 'stop', error: null });
    expect(JSON.parse(played.closing.split('data: ')[1] ?? '')).toMatchObject({ type: done.type, text: done.text });
  });

  test.each<[string, string]>([
    [
      'members that are null',
      said({ type: null, delta: null }, { ...delta('x'), delta: null }, { ...done, text: null }),
    ],
    ['objects where texts belong', said({ ...delta('x'), delta: { toString: 1 } }, { type: { a: 1 } })],
    ['chunks of nothing', said({ object: 'transcription.chunk', choices: null }, { object: 'transcription.chunk' })],
    ['no JSON', 'data: {"type":\n\n'],
  ])('is not ended by events with %s', (_name, odd) => {
    expect(play([Buffer.from(odd)])).toMatchObject({ words: '', ended: null, error: null });
    expect(play([Buffer.from(odd + whole)])).toMatchObject({ closing: expected.closing, words: expected.words });
  });

  test('that breaks off has no last event, and one that fails says why', () => {
    const begun = said(delta('Grüß '));
    expect(play([Buffer.from(begun)])).toMatchObject({ before: named(delta('Grüß ')), closing: '', ended: null });
    expect(play([Buffer.from(`${begun}${said({ error: { message: 'too loud' } })}`)])).toMatchObject({
      error: 'too loud',
    });
  });

  test.each<[string, JsonObject, JsonObject, string]>([
    ['its words', {}, { text: 'Grüß Gott.', usage }, named(delta('Grüß Gott.'))],
    ['its segments', { response_format: 'diarized_json' }, { ...done, segments: [segment] }, named(segment)],
  ])('that came whole is written as %s and its end', (_what, asked, body, before) => {
    const caller = { ...callerOf('transcription', asked), dialect: transcriptsCaller };
    const received = Buffer.from(JSON.stringify(body));
    const answer = providerOfType(1).protocol.answer({
      ...{ provider: providerOfType(1), channel: plainChannel, caller, status: 200, headers: {} },
      ...{ body: received, info: { callId: 'c', model: 'm', createdAt: 1 } },
    });
    if (!answer.ok) throw new Error(answer.error.message);
    const stream = new TranscriptAsStream(answer, {
      channel: plainChannel,
      caller,
      info: { callId: 'c', model: 'm', createdAt: 1 },
    });
    expect([stream.frames()?.toString(), stream.closing(answer.usage ?? {}).toString()]).toEqual([before, named(done)]);
  });
});

describe('speech that is streamed', () => {
  const audio = (text: string) => ({ type: 'speech.audio.delta', audio: Buffer.from(text).toString('base64') });
  const last = { type: 'speech.audio.done', usage: { input_tokens: 4, output_tokens: 90, total_tokens: 94 } };
  const whole = said(audio('ID3a'), audio('bcd'), last);

  test('passes whatever its stream is cut at, and its last event waits for the settlement', () => {
    const expected = { before: named(audio('ID3a'), audio('bcd')), closing: named(last), ended: 'stop', error: null };
    for (let at = 0; at <= whole.length; at++)
      expect(play(twice(whole, at), { mode: 'speech' })).toEqual({ ...expected, usage: null, words: '' });
  });

  test.each([
    ['without sound', said(last)],
    ['with objects and null where sound belongs', said({ ...audio('x'), audio: {} }, { ...audio('x'), audio: null })],
    ['without a type', said({ audio: 'SUQz' })],
  ])('%s is no answer', (_name, odd) => {
    expect(play([Buffer.from(odd)], { mode: 'speech' })).toMatchObject({ before: '', closing: '', ended: null });
  });

  test('is made of sound that comes as it is, whatever that is cut at', () => {
    const sound = Buffer.from(Array.from({ length: 10 }, (_, at) => at * 25));
    for (let at = 0; at <= sound.length; at++) {
      const { before, closing } = play([sound.subarray(0, at), sound.subarray(at)], {
        ...{ mode: 'speech', comesAsSound: true, settled: { input: 4 } },
      });
      const events = before.split('\n\n').filter((event) => event !== '');
      const pieces = events.map((event) => Buffer.from(JSON.parse(event.split('data: ')[1] ?? '').audio, 'base64'));
      expect(Buffer.concat(pieces)).toEqual(sound);
      expect(closing).toBe(named({ ...last, usage: { input_tokens: 4, output_tokens: 0, total_tokens: 4 } }));
    }
  });
});
