import type { FastifyRequest } from 'fastify';
import type { WhatIfRow } from '../application/audit/what-if.js';
import { invalidField } from '../domain/kernel/failure.js';
import type { Cell } from './csv.js';
import { type Parameters, parameterIn } from './parameters.js';

/* What calls would have cost by other prices as a file: of an answer that the console has shown. */

const lists = { user: 'users', model: 'models' } as const;
type Split = keyof typeof lists;
const isSplit = (text: string): text is Split => Object.hasOwn(lists, text);

interface WhatIfAsked {
  readonly id: string;
  readonly by: (typeof lists)[Split];
}

/** Throws `invalid-field`. */
export function whatIfRequestIn({ query }: Pick<FastifyRequest, 'query'>): WhatIfAsked {
  const id = parameterIn(query as Parameters, 'id');
  const by = parameterIn(query as Parameters, 'by') ?? 'user';
  if (id === undefined) throw invalidField('id', 'the id of a question that has been answered');
  if (!isSplit(by)) throw invalidField('by', 'one of user, model');
  return { id, by: lists[by] };
}

export const whatIfHeader = [
  'user',
  'model',
  'calls',
  'actual',
  'hypothetical',
  'difference',
  'actual USD',
  'hypothetical USD',
  'difference USD',
] as const;

export function whatIfCells(
  { userId, model, calls, actual, hypothetical }: WhatIfRow,
  money: (quota: bigint) => string,
): Cell[] {
  const amounts = [actual, hypothetical, hypothetical - actual];
  return [userId, model, calls, ...amounts, ...amounts.map(money)];
}
