/* What an answer holds, for a program or for people. */

/** Sums have no end: they are written as text. */
const asText = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

export const factsAsJson = (facts: object | null): string => JSON.stringify(facts, asText);

const shown = (value: unknown): string =>
  typeof value === 'object' && value !== null ? factsAsJson(value) : String(value ?? '—');

/** A line for each member. */
export const factLines = (facts: object): string =>
  Object.entries(facts)
    .map(([name, value]) => `${name}: ${shown(value)}`)
    .join('\n');
