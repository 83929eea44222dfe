import { failureCode, failureDetails } from '../../kit/words/errors.js';

/* Which field of the form a refusal of the server is about. */

export interface FieldProblem {
  /** As the record has it: `periods[0].tokens.output`. */
  readonly path: string;
  readonly allowed: string;
}

/** null: the refusal is about no field of a record. */
export function fieldProblemIn(error: unknown): FieldProblem | null {
  if (failureCode(error) !== 'invalid-field') return null;
  const { field, allowed } = failureDetails(error);
  const path = String(field ?? '').replace(/^changes\[\d+\]\./, '');
  return path.startsWith('periods') ? { path, allowed: String(allowed ?? '') } : null;
}

/** Whether a field, or a group of fields, is what the refusal is about. */
export const isAbout = (problem: FieldProblem | null, path: string): boolean =>
  problem !== null &&
  (problem.path === path || problem.path.startsWith(`${path}.`) || problem.path.startsWith(`${path}[`));
