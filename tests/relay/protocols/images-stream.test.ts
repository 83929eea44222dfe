import { describe, expect, test } from 'vitest';
import type { Usage } from '../../../src/domain/call/usage.js';
import { imagesCaller } from '../../../src/relay/dialects/openai/images-dialect.js';
import { openai } from '../../../src/relay/providers/openai.js';
import { callerOf, plainChannel } from '../providers/golden.js';

/* A picture that comes event by event, cut anywhere. */

const usage = {
  ...{ total_tokens: 372, input_tokens: 100, output_tokens: 272 },
  input_tokens_details: { text_tokens: 40, image_tokens: 60 },
};
const event = (type: string, rest: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
const partial = event('image_generation.partial_image', { b64_json: 'iVBO', partial_image_index: 0 });
const completed = event('image_generation.completed', { b64_json: 'iVBORw0K', created_at: 1, usage });
const whole = partial + completed;
const reported: Usage = { input: 40, imageInput: 60, imageOutput: 272, images: 1 };

/** What the caller gets, and what is known of it. */
function play(pieces: readonly Buffer[], settled: Usage = reported) {
  const order = { prompt: 'A boat.', stream: true, partial_images: 2 };
  const caller = { ...callerOf('image-generation', order), dialect: imagesCaller };
  const info = { callId: 'call-1', model: 'gpt-image-1', createdAt: 1 };
  const stream = openai.protocol.stream({ provider: openai, channel: plainChannel, caller, info });
  const steps = [...pieces.map((piece) => stream.push(piece)), stream.end()];
  const error = steps.find((step) => step.error !== null)?.error?.message ?? null;
  const got = steps.flatMap(({ bytes }) => bytes ?? []);
  return {
    before: Buffer.concat(got).toString('utf8'),
    closing: stream.closing(settled).toString('utf8'),
    ...(stream.unread === true && { unread: true }),
    ...{ usage: stream.usage, error, ended: stream.generated.finishReason },
  };
}

describe('a streamed picture', () => {
  const expected = { before: partial, closing: completed, usage: reported, error: null, ended: 'stop' };

  test('is the same when its stream is cut at every byte, and its last event waits for the settlement', () => {
    const bytes = Buffer.from(whole);
    for (let at = 0; at <= bytes.length; at++)
      expect(play([Buffer.from(bytes.subarray(0, at)), Buffer.from(bytes.subarray(at))])).toEqual(expected);
    expect(play([...bytes].map((byte) => Buffer.of(byte)))).toEqual(expected);
    expect(play([Buffer.from(whole.replaceAll('\n', '\r\n'))])).toEqual(expected);
  });

  test('has the charged usage in its last event where that is another', () => {
    const { closing } = play([Buffer.from(whole)], { input: 7, imageOutput: 9, images: 1 });
    expect(JSON.parse(closing.split('data: ')[1] ?? '').usage).toMatchObject({ input_tokens: 7, output_tokens: 9 });
  });

  test.each([
    ['members that are null', event('image_generation.completed', { b64_json: null, usage: null })],
    ['an object where the picture belongs', event('image_generation.completed', { b64_json: {}, usage: [] })],
    ['a type that is no text', 'data: {"type":{"toString":1},"b64_json":"iVBO"}\n\n'],
    ['no JSON', 'data: {"type":\n\n'],
  ])('does not end by an event with %s', (_name, odd) => {
    expect(play([Buffer.from(odd)])).toMatchObject({ before: '', ended: null });
    expect(play([Buffer.from(odd + whole)])).toEqual(expected);
  });

  test('counts no more pictures in between than were ordered, and passes them on', () => {
    const flood = partial.repeat(9);
    expect(play([Buffer.from(partial)])).toMatchObject({ usage: { imageOutput: 100 } });
    expect(play([Buffer.from(flood)])).toMatchObject({ before: flood, usage: { imageOutput: 200 }, ended: null });
  });

  test('may be larger than events of words, and is not for free where it is too long to be read', () => {
    const large = event('image_generation.completed', { b64_json: 'A'.repeat(20 * 1024 * 1024), usage });
    const bytes = Buffer.from(large);
    expect(play([bytes.subarray(0, 1_000), bytes.subarray(1_000)])).toMatchObject({ error: null, ended: 'stop' });
    const endless = Buffer.alloc(33 * 1024 * 1024, 'A');
    expect(play([Buffer.from('data: '), endless])).toMatchObject({ unread: true, error: expect.any(String) });
  });

  test('ends by a failure that upstream reports', () => {
    const failure = event('error', { error: { message: 'withheld', code: 'moderation_blocked' } });
    expect(play([Buffer.from(partial + failure)])).toMatchObject({ before: partial, error: 'withheld', ended: null });
  });
});
