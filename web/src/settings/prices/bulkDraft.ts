import type { ProposePriceEditMutationVariables } from '../../generated/settings/prices/prices.js';
import { product } from './decimals.js';

/* What is typed of an edit of many prices. */

type Edit = ProposePriceEditMutationVariables['edit'];

export const bulkKinds = ['MULTIPLY', 'MARGIN', 'SET', 'COPY', 'BUILT_IN'] as const;

export interface BulkDraft {
  readonly kind: (typeof bulkKinds)[number];
  readonly factor: string;
  /** Over the purchase price. */
  readonly percent: string;
  readonly part: string;
  readonly usd: string;
  readonly ratio: string;
  readonly from: string;
}

export const firstBulk: BulkDraft = {
  ...{ kind: 'MULTIPLY', factor: '', percent: '20', part: 'tokens.input', usd: '', ratio: '', from: '' },
};

/** `20` → `1.2`; `-5` → `0.95`. null: it is no percentage. */
function factorOver(percent: string): string | null {
  const text = percent.trim();
  const value = Number(text);
  if (text === '' || !Number.isFinite(value) || value <= -100) return null;
  return String(Number(((100 + value) / 100).toPrecision(12)));
}

const numberIn = (text: string): string | null | undefined =>
  text.trim() === '' ? null : (product(text, '1') ?? undefined);

/** null: something is missing, or is no number. */
export function editIn({ kind, factor, percent, part, usd, ratio, from }: BulkDraft): Edit | null {
  switch (kind) {
    case 'MULTIPLY': {
      const by = numberIn(factor);
      return by === null || by === undefined ? null : { kind, factor: by };
    }
    case 'MARGIN': {
      const by = factorOver(percent);
      return by === null ? null : { kind, factor: by };
    }
    case 'SET': {
      const [dollars, relative] = [numberIn(usd), numberIn(ratio)];
      return dollars === undefined || relative === undefined ? null : { kind, part, usd: dollars, ratio: relative };
    }
    case 'COPY':
      return from.trim() === '' ? null : { kind, from: from.trim() };
    case 'BUILT_IN':
      return { kind };
  }
}
