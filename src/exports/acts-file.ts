import type { FastifyRequest } from 'fastify';
import { actCells, actJson, actsHeader } from '../application/audit/acts-file.js';
import { type AdministratorAct, actKindNamed, actSubjectNamed } from '../application/audit/administrators-log.js';
import { invalidField } from '../domain/kernel/failure.js';
import { UserId } from '../domain/kernel/ids.js';
import { Instant } from '../domain/kernel/instant.js';
import type { ActFilter } from '../projections/models/administrators-log/administrators-log-queries.js';
import { csvOf } from './csv.js';
import { fileTexts } from './file-texts.js';
import { type Parameters, parameterIn, secondsIn } from './parameters.js';

/* What administrators did as a file: which of it is asked for, and its forms. */

/** Both ends are whole seconds, and within. Throws `invalid-field`. */
export function actsRequestIn({ query: given }: Pick<FastifyRequest, 'query'>): ActFilter {
  const query = given as Parameters;
  const by = parameterIn(query, 'by');
  if (by !== undefined && !/^[1-9]\d{0,14}$/.test(by)) throw invalidField('by', 'the id of a user');
  const [kind, subject] = [parameterIn(query, 'kind'), parameterIn(query, 'subject')];
  const [from, to] = [secondsIn(query, 'from'), secondsIn(query, 'to')];
  return {
    by: by === undefined ? null : UserId(by),
    kinds: kind === undefined ? null : [actKindNamed(kind)],
    subject: subject === undefined ? null : actSubjectNamed(subject),
    subjectId: parameterIn(query, 'id') ?? null,
    from: from === undefined ? null : Instant(from * 1000),
    to: to === undefined ? null : Instant((to + 1) * 1000),
  };
}

type Pages = AsyncIterable<readonly AdministratorAct[]>;

export const actsAsCsv = (pages: Pages) => csvOf(actsHeader, pages, actCells);

export const actsAsLines = (pages: Pages) => fileTexts('', pages, (act) => `${JSON.stringify(actJson(act))}\n`);
