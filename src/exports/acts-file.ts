import type { FastifyRequest } from 'fastify';
import { actCells, actJson, actsHeader } from '../application/audit/acts-file.js';
import type { AdministratorAct } from '../application/audit/administrators-log.js';
import { invalidField } from '../domain/kernel/failure.js';
import { UserId } from '../domain/kernel/ids.js';
import { Instant } from '../domain/kernel/instant.js';
import { actKinds, actSubjects } from '../projections/models/administrators-log/acts.js';
import type { ActFilter } from '../projections/models/administrators-log/administrators-log-queries.js';
import { csvOf } from './csv.js';
import { fileTexts } from './file-texts.js';
import { type Parameters, parameterIn, secondsIn } from './parameters.js';

/* What administrators did as a file: which of it is asked for, and its forms. */

function oneOf<Name extends string>(query: Parameters, field: string, names: readonly Name[]): Name | null {
  const given = parameterIn(query, field);
  if (given === undefined) return null;
  const found = names.find((name) => name === given);
  if (found === undefined) throw invalidField(field, `one of ${names.join(', ')}`);
  return found;
}

/** Both ends are whole seconds, and within. Throws `invalid-field`. */
export function actsRequestIn({ query: given }: Pick<FastifyRequest, 'query'>): ActFilter {
  const query = given as Parameters;
  const by = parameterIn(query, 'by');
  if (by !== undefined && !/^[1-9]\d{0,14}$/.test(by)) throw invalidField('by', 'the id of a user');
  const kind = oneOf(query, 'kind', actKinds);
  const [from, to] = [secondsIn(query, 'from'), secondsIn(query, 'to')];
  return {
    by: by === undefined ? null : UserId(by),
    kinds: kind === null ? null : [kind],
    subject: oneOf(query, 'subject', actSubjects),
    subjectId: parameterIn(query, 'id') ?? null,
    from: from === undefined ? null : Instant(from * 1000),
    to: to === undefined ? null : Instant((to + 1) * 1000),
  };
}

type Pages = AsyncIterable<readonly AdministratorAct[]>;

export const actsAsCsv = (pages: Pages) => csvOf(actsHeader, pages, actCells);

export const actsAsLines = (pages: Pages) => fileTexts('', pages, (act) => `${JSON.stringify(actJson(act))}\n`);
