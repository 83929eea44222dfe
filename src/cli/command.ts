import { type ParseArgsConfig, parseArgs } from 'node:util';
import type { Logger } from 'pino';
import type { Config } from '../config.js';

export interface CommandContext {
  readonly config: Config;
  readonly log: Logger;
  readonly args: readonly string[];
}

/** The command cannot be run as it was given; the message says what it takes. */
export class UsageError extends Error {}

type Options = NonNullable<ParseArgsConfig['options']>;

/** What the command was given of these options. Throws UsageError for anything else. */
export function optionsIn<const Of extends Options>(args: readonly string[], options: Of) {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    const names = Object.keys(options).map((name) => `--${name}`);
    const allowed =
      names.length === 0 ? 'This command has no options.' : `Options of this command: ${names.join(', ')}.`;
    // It names the argument, and may go on with how to write it.
    const [complaint = ''] = String(error instanceof Error ? error.message : error).split(/\.(?: |$)/);
    throw new UsageError(`${complaint}. ${allowed}`);
  }
}
