/* The colours of a stack. */

const colours = 8;

/** By its place in the stack; what is left of all others is grey. */
export const colourOf = (index: number, isRest: boolean): string =>
  isRest ? 'var(--text-muted)' : `var(--chart-${(index % colours) + 1})`;
