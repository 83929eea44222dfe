import type { PeriodClosed } from '../../domain/ledger/closing.js';

/* Closed periods, for programs and for people. */

export const closingJson = ({ type: _, ...closing }: PeriodClosed): string => JSON.stringify(closing);

export const closingLine = ({ period, position, entries, seal }: PeriodClosed): string =>
  `${period} is closed at position ${position}, with ${entries} balances, under seal ${seal.number}:${seal.digest}.`;
