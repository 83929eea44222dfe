/* The colours of a stack. */

const colours = 8;

/** By its place in the stack; what is left of all others is grey. */
export const colourOf = (place: number, isRest: boolean): string =>
  isRest ? 'var(--text-muted)' : `var(--chart-${(place % colours) + 1})`;
