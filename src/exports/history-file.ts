import type { FastifyRequest } from 'fastify';
import { historyCells, historyHeader, historyJson } from '../application/audit/history-file.js';
import { type Audited, auditedKinds, causesNamed } from '../application/audit/quota-history.js';
import { invalidField } from '../domain/kernel/failure.js';
import { Instant } from '../domain/kernel/instant.js';
import type { HistoryFilter, QuotaMovement } from '../projections/models/quota-history/quota-history-queries.js';
import { csvOf } from './csv.js';
import { fileTexts } from './file-texts.js';
import { type Parameters, parameterIn, secondsIn } from './parameters.js';

/* The quota history as a file: what is asked for, and its forms. */

interface HistoryAsked {
  readonly of: Audited;
  readonly filter: HistoryFilter;
}

function auditedIn(query: Parameters): Audited {
  const kind = auditedKinds.find((known) => known === parameterIn(query, 'kind'));
  if (kind === undefined) throw invalidField('kind', `one of ${auditedKinds.join(', ')}`);
  const id = parameterIn(query, 'id');
  if (id === undefined) throw invalidField('id', 'the id of what the history is of');
  return { kind, id };
}

/** Both ends are whole seconds, and within. Throws `invalid-field`. */
export function historyRequestIn({ query: given }: Pick<FastifyRequest, 'query'>): HistoryAsked {
  const query = given as Parameters;
  const causes = parameterIn(query, 'cause');
  const [from, to] = [secondsIn(query, 'from'), secondsIn(query, 'to')];
  return {
    of: auditedIn(query),
    filter: {
      causes: causes === undefined ? null : causesNamed(causes.split(','), 'cause'),
      from: from === undefined ? null : Instant(from * 1000),
      to: to === undefined ? null : Instant((to + 1) * 1000),
    },
  };
}

/** Ids that somebody typed are in the name only where they are plain. */
export const historyFileName = ({ kind, id }: Audited, day: string): string =>
  /^[\w-]{1,64}$/.test(id) ? `history-${kind}-${id}-${day}` : `history-${kind}-${day}`;

type Pages = AsyncIterable<readonly QuotaMovement[]>;

export const historyAsCsv = (pages: Pages) => csvOf(historyHeader, pages, historyCells);

export const historyAsLines = (pages: Pages) =>
  fileTexts('', pages, (movement) => `${JSON.stringify(historyJson(movement))}\n`);
