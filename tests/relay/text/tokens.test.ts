import { beforeAll, describe, expect, test } from 'vitest';
import { countTokens, preloadTokenizers } from '../../../src/relay/text/tokens.js';

beforeAll(preloadTokenizers);

const sentence = 'The quick brown fox jumps over the lazy dog, 12 times. ';

/** Characters that follow no pattern, the same ones in every run. */
function characters(count: number, first: number, range: number): string {
  let state = 42;
  let text = '';
  for (let made = 0; made < count; made++) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    text += String.fromCharCode(first + (state % range));
  }
  return text;
}

/** Of three times the least: what else the machine does counts for nothing. */
const millisecondsFor = (work: () => void): number => {
  const once = (): number => {
    const start = performance.now();
    work();
    return performance.now() - start;
  };
  return Math.min(once(), once(), once());
};

describe('the token counter', () => {
  test.each([
    ['gpt-4o', 'hello world', 2],
    ['gpt-4', 'hello world', 2],
    ['gpt-4o', 'Rundfunkgebühr', 5],
    ['gpt-4', 'Rundfunkgebühr', 6],
    ['o3-mini', '你好，世界', 3],
    ['claude-3-opus', '你好，世界', 6],
    ['gpt-4o', '', 0],
  ])('for %s counts %j as %i', (model, text, tokens) => {
    expect(countTokens(model, text)).toBe(tokens);
  });

  test('counts control tokens of a model as ordinary text', () => {
    expect(countTokens('gpt-4o', '<|endoftext|>')).toBeGreaterThan(1);
  });

  test('counts several texts separately and adds them up', () => {
    expect(countTokens('gpt-4o', ['hello world', 'hello', ''])).toBe(3);
  });

  test('counts a repeated text the same', () => {
    expect([1, 2, 3].map(() => countTokens('gpt-4', sentence))).toEqual([15, 15, 15]);
  });

  test('accepts half a character', () => {
    expect(countTokens('gpt-4o', '\ud83d')).toBeGreaterThan(0);
  });

  test.each([
    ['prose', sentence.repeat(400)],
    ['Chinese', '冰岛的首都是雷克雅未克，人口约十三万。'.repeat(600)],
    ['prose that turns into Chinese', sentence.repeat(150) + '冰岛的首都是雷克雅未克。'.repeat(700)],
    ['numbers', Array.from({ length: 4000 }, (_, at) => at * 37).join(' ')],
  ])('estimates a long text (%s) within half a percent', (_kind, text) => {
    const exact = (text.match(/.{1,4000}/gs) ?? []).reduce((sum, part) => sum + countTokens('gpt-4o', part), 0);
    expect(Math.abs(countTokens('gpt-4o', text) / exact - 1)).toBeLessThan(0.005);
  });

  test('estimates a long text in many pieces like one text', () => {
    const pieces = Array.from({ length: 2000 }, () => sentence);
    const whole = countTokens('gpt-4o', sentence.repeat(2000));
    expect(Math.abs(countTokens('gpt-4o', pieces) / whole - 1)).toBeLessThan(0.03);
  });
});

describe('the work of counting is bounded', () => {
  const long = 1_000_000;
  const short = 8000;

  /** What a caller could send to keep the process busy, and how many times the work of plain text it may cost. */
  const hostile: readonly (readonly [string, number, (at: number) => string])[] = [
    ['a million times one letter', 40, (at) => 'a'.repeat(long + at)],
    ['one letter, few enough to be counted', 40, (at) => 'b'.repeat(short + at)],
    ['a million blanks', 40, (at) => ' '.repeat(long + at)],
    ['blanks, few enough to be counted', 40, (at) => ' \t'.repeat(short / 2 + at)],
    ['exclamation marks, few enough to be counted', 40, (at) => '!'.repeat(short + at)],
    ['a million random letters', 200, (at) => characters(long + at, 97, 26)],
    ['a million random Chinese characters', 200, (at) => characters(long + at, 0x4e00, 20_000)],
    ['random Chinese characters, few enough to be counted', 200, (at) => characters(short + at, 0x4e00, 20_000)],
  ];

  test.each(hostile)('%s: at most %i times the work of a page of plain text', (_kind, times, make) => {
    const texts = Array.from({ length: 5 }, (_, at) => make(at));
    const pages = Array.from({ length: 50 }, (_, at) => `${sentence.repeat(140)} ${at}`);
    for (const text of [...texts, ...pages]) countTokens('gpt-4o', text.slice(0, 500));
    const perPage = millisecondsFor(() => pages.map((page) => countTokens('gpt-4o', page))) / pages.length;
    const perText = millisecondsFor(() => texts.map((text) => countTokens('gpt-4o', text))) / texts.length;
    expect(perText).toBeLessThan(perPage * times);
  });
});
