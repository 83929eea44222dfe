import type { PeriodDraft } from './priceDraft.js';

/* Calls to try a price by. */

export const exampleNames = ['chat', 'long', 'cached', 'audio', 'picture', 'search'] as const;
export type ExampleName = (typeof exampleNames)[number];

export interface UsedQuantity {
  readonly quantity: string;
  readonly count: number;
}

const longPrompt = 300_000;

/** One token more than the last tier begins at. */
function beyondTiers({ tiers }: PeriodDraft): number {
  const over = Math.max(0, ...tiers.map((tier) => Number(tier.over)).filter(Number.isFinite));
  return over > 0 ? over + 1 : longPrompt;
}

export function exampleUsage(name: ExampleName, period: PeriodDraft): readonly UsedQuantity[] {
  switch (name) {
    case 'chat':
      return [
        { quantity: 'input', count: 1_200 },
        { quantity: 'output', count: 400 },
      ];
    case 'long':
      return [
        { quantity: 'input', count: beyondTiers(period) },
        { quantity: 'output', count: 2_000 },
      ];
    case 'cached':
      return [
        { quantity: 'input', count: 2_000 },
        { quantity: 'cachedInput', count: 50_000 },
        { quantity: 'cacheWrite', count: 4_000 },
        { quantity: 'output', count: 800 },
        { quantity: 'reasoning', count: 1_500 },
      ];
    case 'audio':
      return [
        { quantity: 'input', count: 200 },
        { quantity: 'audioInput', count: 3_000 },
        { quantity: 'output', count: 100 },
        { quantity: 'audioOutput', count: 2_000 },
      ];
    case 'picture':
      return [
        { quantity: 'input', count: 300 },
        { quantity: 'imageInput', count: 1_500 },
        { quantity: 'imageOutput', count: 4_000 },
        { quantity: 'images', count: 1 },
      ];
    case 'search':
      return [
        { quantity: 'input', count: 8_000 },
        { quantity: 'output', count: 600 },
        { quantity: 'calls:web_search', count: 2 },
      ];
  }
}
