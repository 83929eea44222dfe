import { Failure } from '../domain/kernel/failure.js';
import type { Projection } from '../projections/engine/projection.js';
import { readModels } from '../projections/read-models.js';

/** Names of read models on the command line are written with dashes. */
export const commandName = (name: string): string => name.replaceAll('_', '-');

/** The read model that `--model` names. Throws Failure `invalid-field`, whose `reason` lists those there are. */
export function modelNamed(given: string): Projection {
  const found = readModels.find(({ name }) => commandName(name) === commandName(given));
  if (found !== undefined) return found;
  const known = readModels.map(({ name }) => commandName(name)).join(', ');
  throw new Failure('invalid-field', {
    reason: `--model ${given}: there is no such read model. Known are: ${known}.`,
  });
}
