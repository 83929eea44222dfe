import { afterAll, describe, expect, test } from 'vitest';
import { samplePositionsBy } from '../../../src/relay/text/sample-positions.js';
import { SeenText } from '../../../src/relay/text/seen-text.js';
import { countTokens } from '../../../src/relay/text/tokens.js';

/* Long texts are counted at places that nobody can know beforehand. */

const model = 'gpt-4o';
const dense = '\u9f98\u9750\u9f49\u7228';
const length = 65_000;
const secrets = [1, 2, 3, 4, 5].map((byte) => Buffer.alloc(32, byte));

afterAll(() => samplePositionsBy(Buffer.alloc(32)));

/** Dense script, but for blanks at the places of evenly spaced windows. */
function hollow(windows: number, spacing: (window: number) => number, blank: number): string {
  const text = dense.repeat(length / dense.length).split('');
  for (let window = 0; window < windows; window++) {
    const at = Math.floor(spacing(window));
    for (let index = at; index < Math.min(at + blank, length); index++) text[index] = ' ';
  }
  return text.join('');
}

const evenly = hollow(32, (window) => (window * (length - 256)) / 31, 256);
/** Where every second sample of a text that is read bit by bit would stay. */
const bySteps = hollow(64, (window) => window * 1_024, 256);

const exactly = (text: string): number => {
  let tokens = 0;
  for (let at = 0; at < text.length; at += 8_000) tokens += countTokens(model, text.slice(at, at + 8_000));
  return tokens;
};

const seen = (text: string): number => {
  const said = new SeenText();
  for (let at = 0; at < text.length; at += 1_000) said.add(text.slice(at, at + 1_000));
  return said.tokens(model);
};

describe.each([
  ['a prompt', evenly, (text: string) => countTokens(model, text)],
  ['an answer', bySteps, seen],
])('%s with blanks where evenly spaced samples would lie', (_kind, text, count) => {
  test('is counted close to its real size, whatever the secret', () => {
    const exact = exactly(text);
    for (const secret of secrets) {
      samplePositionsBy(secret);
      expect(count(text) / exact).toBeGreaterThan(0.6);
      expect(count(text) / exact).toBeLessThan(1.5);
    }
  });

  test('is counted the same each time with one secret, and at other positions with another', () => {
    const counts = secrets.map((secret) => {
      samplePositionsBy(secret);
      const first = count(text);
      expect(count(text)).toBe(first);
      return first;
    });
    expect(new Set(counts).size).toBeGreaterThan(1);
  });
});

test('a text whose samples are blank counts at least a token for every six bytes', () => {
  expect(countTokens(model, ' '.repeat(60_000))).toBe(10_000);
  expect(seen(' '.repeat(60_000))).toBe(10_000);
});

test('text between blanks at sampling distance counts: at most a cut word is omitted at the ends of a sample', () => {
  const line = `${dense.repeat(50)}\n${' '.repeat(54)}\n`;
  const text = line.repeat(400);
  expect(countTokens(model, text) / (countTokens(model, line) * 400)).toBeGreaterThan(0.7);
});
