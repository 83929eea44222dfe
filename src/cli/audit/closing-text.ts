import type { PeriodArchived, PeriodClosed } from '../../domain/ledger/closing.js';

/* Closed periods, for programs and for people. */

/** `file`: where it is, of one whose calls have left the log. */
interface Archived extends Pick<PeriodArchived, 'events' | 'digest'> {
  readonly file: string | null;
}

export const closingJson = ({ type: _, ...closing }: PeriodClosed, archive: Archived | null = null): string =>
  JSON.stringify({ ...closing, archive });

export const closingLine = ({ period, position, entries, seal }: PeriodClosed): string =>
  `${period} is closed at position ${position}, with ${entries} balances, under seal ${seal.number}:${seal.digest}.`;

export const archiveLine = ({ events, digest, file }: Archived): string =>
  `Its archive has ${events} events and SHA-256 ${digest}${file === null ? '' : `; its calls are in ${file} only`}.`;
