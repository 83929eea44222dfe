import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { realtimeInput } from '../../../src/relay/metering/realtime-input.js';
import { RealtimeOutput } from '../../../src/relay/metering/realtime-output.js';
import { RealtimeTally } from '../../../src/relay/metering/realtime-tally.js';

const megabyte = 'A'.repeat(1_000_000);
const picture = { type: 'input_image', image_url: `data:image/png;base64,${megabyte}` };
/** 15 seconds and a bit. */
const sound = { type: 'input_audio', audio: megabyte };
const models = ['gpt-realtime', 'gpt-realtime'] as const;

const created = (...content: JsonObject[]): JsonObject => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content },
});
const inputOf = (event: JsonObject) => realtimeInput(event, JSON.stringify(event).length, models);

function tallied(event: JsonObject) {
  const tally = new RealtimeTally(0);
  tally.wrote(inputOf(event));
  return { ...tally.seen(new RealtimeOutput()), held: tally.held };
}

test('a picture in an event counts as a picture, and sound as its seconds, not as text of their length', () => {
  const drawn = tallied(created(picture));
  expect(drawn.input).toBeLessThan(50);
  expect(drawn.imageInput).toBeGreaterThan(50);
  expect(drawn.imageInput).toBeLessThan(5_000);
  expect(drawn.held).toBeGreaterThanOrEqual(drawn.imageInput ?? 0);
  expect(drawn.held).toBeLessThan(100_000);
  const spoken = tallied(created(sound));
  expect(spoken).toMatchObject({ audioInput: 157, imageInput: 0 });
  expect(spoken.input).toBeLessThan(50);
});

test('a response’s own input counts as that of the conversation', () => {
  const { content } = created(picture, sound).item as JsonObject;
  const apart = { type: 'response.create', response: { input: [{ type: 'message', content: content ?? null }] } };
  expect(inputOf(apart).pictures).toEqual(inputOf(created(picture)).pictures);
  expect(inputOf(apart).sound).toBe(megabyte.length);
});

test.each<[string, JsonObject]>([
  ['a picture that is no text', { type: 'input_image', image_url: { url: 7 }, more: megabyte }],
  ['sound that is no text', { type: 'input_audio', audio: [megabyte] }],
  ['words that look like a picture', { type: 'input_text', text: `data:image/png;base64,${megabyte}` }],
  ['no kind', { image_url: megabyte }],
])('whatever is of %s counts as the text that it may be', (_, part) => {
  expect(inputOf(created(part)).bytes).toBeGreaterThanOrEqual(megabyte.length);
});

test.each([null, 7, [], [null], { content: null }, { content: {} }, { content: [null, 7, [picture]] }])(
  'an event with the item %j brings text alone',
  (item) => {
    for (const event of [{ item }, { response: { input: item } }, { response: { input: [item] } }, { response: item }])
      expect(inputOf({ type: 'x', ...event } as JsonObject)).toMatchObject({ sound: 0, pictures: { max: 0 } });
  },
);
