import { describe, expect, test } from 'vitest';
import { budgetsBelow, minThinkingTokens } from '../../../src/relay/catalogue/thinking-budget.js';

describe.each([
  ['thinking.budget_tokens', (tokens: unknown) => ({ thinking: { type: 'enabled', budget_tokens: tokens } })],
  ['reasoning.max_tokens', (tokens: unknown) => ({ reasoning: { exclude: true, max_tokens: tokens } })],
] as const)('the thinking budget in %s', (_, request) => {
  const asked = (tokens: unknown) => ({ model: 'm', ...request(tokens) }) as never;

  test.each([4_000, 3_000])('of %i tokens is one below a limit that was lowered to 3,000', (tokens) => {
    expect(budgetsBelow(asked(tokens), 3_000)).toEqual(asked(2_999));
  });

  test('is unchanged where it is below the lowered limit', () => {
    expect(budgetsBelow(asked(2_999), 3_000)).toEqual(asked(2_999));
  });

  test('is never below one token', () => {
    expect(budgetsBelow(asked(500), 1)).toEqual(asked(1));
  });

  test('respects the minimum of the vendors', () => {
    expect(minThinkingTokens(asked(4_000))).toBe(1_024);
  });

  test.each([0, -5, 'much', null])('of %j sets no budget: nothing is added, and it is sent unchanged', (tokens) => {
    expect(minThinkingTokens(asked(tokens))).toBe(0);
    expect(budgetsBelow(asked(tokens), 3_000)).toEqual(asked(tokens));
  });

  test('is changed in a copy', () => {
    const body = asked(4_000);
    budgetsBelow(body, 3_000);
    expect(body).toEqual(asked(4_000));
  });
});
