import { factsOf } from '../models/model-facts.js';

/* How much a model can put out, and take in: as the operator says, or else as its maker does. */

export interface ModelLimits {
  /** Tokens of one answer, thinking included. */
  readonly output: number;
  /** Tokens of prompt and answer together; null: not known. */
  readonly context: number | null;
  /** Nobody has said so: a guess, which an upstream may refuse to be given as a limit. */
  readonly guessed: boolean;
}

type Stated = NonNullable<ReturnType<typeof factsOf>['limits']>;

/** No model takes more, as far as anybody has said. */
export const maxContext = 10_000_000;

/** By what the table of models states, whose objects are few and stay: most calls ask. */
const stated = new Map<Stated, ModelLimits>();

function statedLimits(limits: Stated): ModelLimits {
  let known = stated.get(limits);
  if (known === undefined) {
    known = { ...limits, guessed: false };
    stated.set(limits, known);
  }
  return known;
}

/** `configured`: what the operator says of models by name; it wins. `otherwise`: for models nobody has said anything of. */
export function limitsOf(model: string, configured: ReadonlyMap<string, number>, otherwise: number): ModelLimits {
  const output = configured.get(model);
  const { limits } = factsOf(model);
  // An operator who knows of a larger answer than we do knows of a larger context as well.
  if (output !== undefined)
    return { output, context: limits === null ? null : Math.max(limits.context, output), guessed: false };
  return limits === null ? { output: otherwise, context: null, guessed: true } : statedLimits(limits);
}
