import { type Options, readArguments, type Values } from './arguments.js';

/* A part of the benchmark, as the command line knows it. */

export interface Surroundings {
  /** Gets what is going on, line by line. */
  readonly progress: (line: string) => void;
  /** Somebody wants it to end. */
  readonly signal: AbortSignal;
}

/** What a part has found. */
export interface Outcome {
  /** For machines. */
  readonly figures: object;
  /** The same for people. */
  readonly lines: readonly string[];
  /** What must be so and is not: the run fails. */
  readonly differences: readonly string[];
}

interface Findings extends Outcome {
  readonly json: boolean;
  readonly options: Readonly<Record<string, unknown>>;
}

export interface Part {
  readonly name: string;
  readonly says: string;
  readonly options: Options;
  /** Throws UsageError. */
  run(args: readonly string[], surroundings: Surroundings): Promise<Findings>;
}

export const part = <Declared extends Options>(definition: {
  readonly name: string;
  readonly says: string;
  readonly options: Declared;
  readonly run: (options: Values<Declared>, surroundings: Surroundings) => Promise<Outcome>;
}): Part => ({
  ...definition,
  async run(args, surroundings) {
    const { json, values } = readArguments(args, definition.options);
    const { figures, lines, differences } = await definition.run(values, surroundings);
    return { json, options: values, figures, lines, differences };
  },
});
