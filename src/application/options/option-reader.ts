import { type OptionKey, optionDefinition, optionTable } from '../../domain/options/option-table.js';
import { readRatios } from '../../domain/options/option-values.js';
import type { RatioTable } from '../../domain/pricing/price-tables.js';

/** Values of options as they hold now, by their kind. */
export interface OptionReader {
  /** The effective text of an option; '' for an unknown key and for every secret. */
  text(key: OptionKey): string;
  flag(key: OptionKey): boolean;
  /** Within the range of the option. */
  number(key: OptionKey): number;
  isChanged(key: OptionKey): boolean;
  /** `fallback`: what holds while nobody has changed it; null: the option's own first value. */
  ratios(key: OptionKey, fallback: RatioTable | null): RatioTable;
}

const isNumber = (key: OptionKey): boolean => 'minimum' in optionTable[key];

/** `changed`: the values operators have set, by key; secrets left out. Values were checked when they were stored. */
export function optionReader(changed: ReadonlyMap<string, string>, initial: ReadonlyMap<string, string>): OptionReader {
  const text = (key: OptionKey): string => {
    const value = changed.get(key);
    const isSet = value !== undefined && (value !== '' || !isNumber(key));
    return isSet ? value : (initial.get(key) ?? '');
  };
  return {
    text,
    flag: (key) => text(key) === 'true',
    // A value older than today's range counts as the end of it: nothing it is used for has to fear more.
    number(key) {
      const definition = optionDefinition(key);
      const value = Number(text(key));
      return definition !== null && 'minimum' in definition
        ? Math.min(Math.max(value, definition.minimum), definition.maximum)
        : value;
    },
    isChanged: (key) => changed.has(key),
    ratios: (key, fallback) => (fallback !== null && !changed.has(key) ? fallback : readRatios(key, text(key))),
  };
}

/** Lines that say something, without what surrounds them. */
export const linesIn = (value: string): string[] =>
  value
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Entries between commas or line ends. */
export const entriesIn = (value: string): string[] =>
  value
    .split(/[,\n]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
