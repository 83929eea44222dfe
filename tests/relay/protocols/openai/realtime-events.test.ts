import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/relay/json/json.js';
import { appendedSound, eventName } from '../../../../src/relay/protocols/openai/realtime-events.js';
import { readRealtimeUsage } from '../../../../src/relay/protocols/openai/realtime-usage.js';

describe('an event that is not read', () => {
  test.each([
    ['{"type":"input_audio_buffer.append","audio":"AAAA"}', 4],
    ['{ "type": "input_audio_buffer.append", "audio": "AAAAAAAA" }', 8],
    ['{"event_id":"e1","type":"input_audio_buffer.append","audio":"AAAA"}', 4],
    ['{"type":"input_audio_buffer.append","audio":"AAAA","event_id":"e1"}\n', 4],
    ['{"type":"input_audio_buffer.append","audio":""}', 0],
    ['{"type":"input_audio_buffer.append","audio":"AAAA","type":"response.create"}', null],
    ['{"type":"input_audio_buffer.append","audio":"AA\\"AA"}', null],
    ['{"type":"input_audio_buffer.append","audio":"AAAA","audio":"B"}', null],
    ['{"type":"input_audio_buffer.append","audio":"AAAA"', null],
    ['{"audio":"AAAA","type":"input_audio_buffer.append"}', null],
    ['{"type":"response.create"}', null],
    [`{"type":"input_audio_buffer.append","audio":"AAAA"}${' '.repeat(600)}`, null],
  ])('appends sound if it holds nothing else: %s', (event, characters) =>
    expect(appendedSound(Buffer.from(event))).toBe(characters),
  );

  test.each([
    ['{"type":"response.output_audio.delta","delta":"AAAA"}', 'response.output_audio.delta'],
    ['{"event_id":"e","type":"response.done","response":{}}', 'response.done'],
    ['{"response":{"type":"response.output_audio.delta"},"type":"response.done"}', null],
    ['{"type":{"type":"response.done"}}', null],
    ['[]', null],
  ])('is known by its name if it begins with that: %s', (event, name) =>
    expect(eventName(Buffer.from(event))).toBe(name),
  );
});

describe('usage of a response', () => {
  const input_token_details: JsonObject = {
    ...{ text_tokens: 30, audio_tokens: 60, image_tokens: 10, cached_tokens: 40 },
    cached_tokens_details: { text_tokens: 15, audio_tokens: 20, image_tokens: 5 },
  };

  test.each<[string, JsonObject, object | null]>([
    [
      'of each kind once, cached or not',
      { input_tokens: 100, output_tokens: 50, input_token_details, output_token_details: { audio_tokens: 40 } },
      { input: 15, cachedInput: 20, imageInput: 5, audioInput: 40, cachedAudioInput: 20, output: 10, audioOutput: 40 },
    ],
    [
      'sound as not cached where details of the cache are missing',
      { input_tokens: 100, input_token_details: { audio_tokens: 60, cached_tokens: 70 } },
      { audioInput: 60, cachedInput: 40 },
    ],
    [
      'no part beyond its whole',
      {
        input_tokens: 10,
        output_tokens: 5,
        input_token_details: { audio_tokens: 1e9 },
        output_token_details: { audio_tokens: 9 },
      },
      { audioInput: 10, audioOutput: 5 },
    ],
    ['nothing of what is no count', { input_tokens: '9', output_tokens: { a: 1 }, input_token_details: [] }, null],
    ['nothing of a count below zero', { input_tokens: -5, output_tokens: -1 }, null],
  ])('counts %s', (_name, reported, usage) => expect(readRealtimeUsage(reported)).toEqual(usage));
});
