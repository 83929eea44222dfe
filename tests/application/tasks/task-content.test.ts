import { describe, expect, test } from 'vitest';
import { boundedContent, mergedContent } from '../../../src/application/tasks/task-content.js';

const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

describe('the content of a task', () => {
  test('is cut at the bound of each text, and never inside a character', () => {
    const { prompt = '' } = boundedContent({ prompt: '画'.repeat(10_000), urls: [] });
    expect(Buffer.byteLength(prompt)).toBeLessThanOrEqual(8 * 1024);
    expect(prompt).toMatch(/^画+$/u);
    const { failReason = '' } = boundedContent({ failReason: `a${'😀'.repeat(2_000)}`, urls: [] });
    expect(failReason).toMatch(/^a😀+$/u);
    expect(Buffer.byteLength(failReason)).toBeGreaterThan(2_040);
  });

  test('takes 64 KB at most, and lacks a result that is longer', () => {
    const long = { prompt: 'p'.repeat(9_000), promptEn: 'p'.repeat(9_000), description: 'd'.repeat(9_000), urls: [] };
    const result = JSON.stringify({ data: 'r'.repeat(30_000) });
    expect(boundedContent({ ...long, result }).result).toBe(result);
    const whole = boundedContent({ ...long, result: JSON.stringify({ data: 'r'.repeat(60_000) }) });
    expect(whole.result).toBeUndefined();
    expect(bytes(whole)).toBeLessThan(64 * 1024);
  });

  test('lacks addresses that are too long or too many, and has each once', () => {
    const urls = Array.from({ length: 100 }, (_, n) => `https://pictures.example.org/${n}.png`);
    expect(boundedContent({ urls }).urls).toEqual(urls.slice(0, 64));
    const long = `https://pictures.example.org/${'x'.repeat(5_000)}`;
    expect(boundedContent({ urls: [long, 'https://a.example.org', 'https://a.example.org'] }).urls).toEqual([
      'https://a.example.org',
    ]);
    const large = Array.from({ length: 10 }, (_, n) => `https://pictures.example.org/${n}/${'x'.repeat(4_000)}`);
    expect(boundedContent({ urls: large }).urls).toHaveLength(4);
  });

  test('keeps what a later report leaves out', () => {
    const before = { prompt: 'a cat', urls: ['https://a.example.org/1.png'] };
    expect(mergedContent(before, { failReason: 'no', prompt: '', urls: [] })).toEqual({ ...before, failReason: 'no' });
    expect(mergedContent(before, { urls: ['https://a.example.org/2.png'] })).toEqual({
      prompt: 'a cat',
      urls: ['https://a.example.org/2.png'],
    });
    expect(mergedContent(null, { state: 'x', urls: [] })).toEqual({ state: 'x', urls: [] });
  });
});
