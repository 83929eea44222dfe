import type { ChangePlace } from '../../application/audit/as-of.js';

/* What an answer holds, for a program or for people. */

/** Sums have no end: they are written as text. */
const asText = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

export const factsAsJson = (facts: object | null): string => JSON.stringify(facts, asText);

const isPlace = (value: object): value is ChangePlace => 'position' in value && 'at' in value;

function shown(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value ?? '—');
  return isPlace(value) ? `event ${value.position} at ${new Date(value.at).toISOString()}` : factsAsJson(value);
}

/** A line for each member. */
export const factLines = (facts: object): string =>
  Object.entries(facts)
    .map(([name, value]) => `${name}: ${shown(value)}`)
    .join('\n');
