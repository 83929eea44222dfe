import type { FieldProblem } from './fieldProblem.js';
import type { PeriodDraft } from './priceDraft.js';

/* What the parts of the form of a period have in common. */

export interface PeriodPartProps {
  readonly period: PeriodDraft;
  readonly path: string;
  readonly problem: FieldProblem | null;
  readonly onChange: (period: PeriodDraft) => void;
}

export const replaced = <Item>(items: readonly Item[], at: number, item: Item): readonly Item[] =>
  items.map((other, index) => (index === at ? item : other));

export const without = <Item>(items: readonly Item[], at: number): readonly Item[] =>
  items.filter((_, index) => index !== at);
