import type { ModelFacts } from './fact-kinds.js';

/** Who says so. `maker`: its public documents. `observed`: answers and bills. `convention`: names are chosen so. */
type Source = 'maker' | 'observed' | 'convention';

/** One family of names, and what is known of it. */
export interface FactRow {
  readonly names: RegExp;
  /** The pattern is read in the whole name. Otherwise in its last part: `gpt-4o` of `openai/gpt-4o`. */
  readonly whole: boolean;
  readonly facts: Partial<ModelFacts>;
  readonly source: Source;
}

/** Whoever serves the model, under whatever prefix. */
export const family = (names: RegExp, facts: Partial<ModelFacts>, source: Source = 'maker'): FactRow => ({
  names,
  whole: false,
  facts,
  source,
});

/** Under this very name: a rule of the maker's own interface, or of a prefix that vendors put before it. */
export const wholeName = (names: RegExp, facts: Partial<ModelFacts>, source: Source = 'maker'): FactRow => ({
  names,
  whole: true,
  facts,
  source,
});

/** Tokens of one answer, and of prompt and answer together. */
export const limits = (output: number, context: number): Pick<ModelFacts, 'limits'> => ({
  limits: { output, context },
});
