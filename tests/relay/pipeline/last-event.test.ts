import { describe, expect, test } from 'vitest';
import { LastEvent } from '../../../src/relay/pipeline/last-event.js';

const event = (type: string, rest: object = {}, end = '\n') =>
  `event: ${type}${end}data: ${JSON.stringify({ type, ...rest })}${end}${end}`;
const began = event('response.created', { response: { status: 'in_progress' } });
const isIn = (...pieces: string[]) => {
  const lastEvent = new LastEvent();
  return pieces.map((piece) => lastEvent.isIn(Buffer.from(piece)));
};

describe('the last event of a streamed response', () => {
  test.each(['completed', 'incomplete', 'failed', 'cancelled'])(
    'is found in a stream that ends with %s, wherever it is cut, and once its name is whole',
    (status) => {
      for (const end of ['\n', '\r\n', '\r']) {
        const text = began + event(`response.${status}`, { response: { status } }, end);
        const whole = text.indexOf(`response.${status}${end}`) + `response.${status}`.length + 1;
        for (let cut = 1; cut < text.length; cut++) {
          const found = isIn(text.slice(0, cut), text.slice(cut));
          expect(found[0]).toBe(cut >= whole);
          expect(found.includes(true)).toBe(true);
        }
      }
    },
  );

  test('is found byte by byte, and where the data alone name it', () => {
    const text = `${began}data: {"type": "response.completed", "response": {}}\n\n`;
    expect(isIn(...text).filter(Boolean)).not.toEqual([]);
    expect(isIn('data: {"type":"response.failed"}\n\n')).toEqual([true]);
  });

  test('is not what a model says, nor an event whose name begins alike', () => {
    const said = event('response.output_text.delta', {
      delta: 'event: response.completed\nevent: response.failed\n{"type":"response.completed"}',
    });
    expect(isIn(began, said, said)).toEqual([false, false, false]);
    expect(isIn(event('response.completed_soon'), event('response.failed.item'))).toEqual([false, false]);
    expect(isIn(...(began + said)).some(Boolean)).toBe(false);
  });
});
