import { describe, expect, test } from 'vitest';
import { anthropicFacts } from '../../../src/domain/models/anthropic-facts.js';
import type { FactRow } from '../../../src/domain/models/fact-row.js';
import { googleFacts } from '../../../src/domain/models/google-facts.js';
import { factsOf } from '../../../src/domain/models/model-facts.js';
import { openAiFacts } from '../../../src/domain/models/openai-facts.js';
import { otherFacts } from '../../../src/domain/models/other-facts.js';
import { knownFacts } from './known-facts.js';

const unknown = factsOf('a-name-that-nobody-knows');
const named = knownFacts.flatMap(([names, facts]) =>
  names
    .trim()
    .split(/\s+/)
    .map((name) => [name, facts] as const),
);

describe('the table of model facts', () => {
  test('includes every model that has a price or is in a provider’s list', () =>
    expect(named.length).toBeGreaterThan(600));

  test.each(named)('has for %s the same facts as before the table', (name, facts) => {
    // What came later has tests of its own.
    const later = { knowsMaxEffort: false, knowsXhighLevel: false, cachesFrom: null, inputLimit: null };
    const { paysForCacheWrites: _, lastingCacheWrite: __, retires: ___, ...known } = { ...factsOf(name), ...later };
    expect({ ...unknown, ...known }).toEqual({ ...unknown, ...facts });
  });

  test.each([
    ['claude-opus-4-5', '2027-01-22'],
    ['anthropic/claude-sonnet-4.5', '2026-11-30'],
    ['claude-opus-5', null],
    ['gpt-4o', null],
  ])('names for %s the day on which it retires: %s', (name, day) => expect(factsOf(name).retires).toBe(day));

  // As Anthropic documents its cache of prompts.
  test.each([
    ['claude-3-5-sonnet-20241022', null],
    ['claude-opus-4-5', 4_096],
    ['claude-opus-4-6', 4_096],
    ['claude-haiku-4-5', 4_096],
    ['anthropic.claude-opus-4-7', 2_048],
    ['claude-opus-4-8', 1_024],
    ['claude-sonnet-4-5', 1_024],
    ['claude-sonnet-5', 1_024],
    ['claude-opus-5', 512],
    ['claude-fable-5', 512],
    ['gpt-5', null],
  ])('has for %s the length of the shortest prompt that is cached: %s', (name, tokens) =>
    expect(factsOf(name).cachesFrom).toBe(tokens),
  );

  test.each([
    ['gemini-1.5-pro', 2_097_152],
    ['gemini-2.5-flash', 1_048_576],
    ['gemini-3-pro-preview', 1_048_576],
    ['gemini-2.5-flash-image', 65_536],
    ['gemini-2.5-flash-preview-tts', 8_192],
    ['gemini-embedding-001', 2_048],
    ['gpt-5', null],
  ])('has for %s the longest prompt that its maker lists: %s', (name, tokens) =>
    expect(factsOf(name).inputLimit).toBe(tokens),
  );

  test('returns the same for a repeated name, without parsing it again', () =>
    expect(factsOf('gpt-5.4')).toBe(factsOf('gpt-5.4')));

  test('applies a rule of a maker’s own interface to the bare name only', () => {
    expect(factsOf('o3').takesReasoningParameters).toBe(true);
    expect(factsOf('openai/o3').takesReasoningParameters).toBe(false);
    expect(factsOf('openai/o3').limits).toEqual(factsOf('o3').limits);
  });

  /** The rows that decide a fact of this model: those before which no other has stated it. */
  const deciding = (rows: readonly FactRow[], model: string): FactRow[] => {
    const name = model.slice(model.lastIndexOf('/') + 1);
    const stated = new Set<string>();
    return rows.filter(({ names, whole, facts }) => {
      if (!names.test(whole ? model : name)) return false;
      const news = Object.keys(facts).filter((fact) => !stated.has(fact));
      for (const fact of news) stated.add(fact);
      return news.length > 0;
    });
  };

  test('has no row without an effect on any of these models', () => {
    const rows = [...openAiFacts, ...anthropicFacts, ...googleFacts, ...otherFacts];
    const used = new Set(named.flatMap(([name]) => deciding(rows, name)));
    expect(rows.filter((row) => !used.has(row)).map(({ names }) => String(names))).toEqual([]);
  });
});
