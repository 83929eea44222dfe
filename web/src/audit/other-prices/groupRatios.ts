/* What groups multiply prices by, as it is typed. */

export interface TypedRatio {
  readonly key: number;
  readonly group: string;
  readonly ratio: string;
}

export const maxGroups = 200;
const ratioPattern = /^\d{1,6}(?:\.\d{1,9})?$/;

export const isWrongRatio = ({ ratio }: TypedRatio): boolean => !ratioPattern.test(ratio.trim());

/** Lines without a group say nothing. */
const isNamed = ({ group }: TypedRatio): boolean => group.trim() !== '';

export const hasWrongRatio = (typed: readonly TypedRatio[]): boolean => typed.filter(isNamed).some(isWrongRatio);

export const namedRatios = (typed: readonly TypedRatio[]): { readonly group: string; readonly ratio: string }[] =>
  typed.filter(isNamed).map(({ group, ratio }) => ({ group: group.trim(), ratio: ratio.trim() }));
