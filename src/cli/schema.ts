import { printedSchema } from '../graphql/schema.js';
import { type CommandContext, optionsIn } from './command.js';

/** Prints the GraphQL schema, as committed in schema.graphql. */
export async function schema({ args }: Pick<CommandContext, 'args'>): Promise<void> {
  optionsIn(args, {});
  process.stdout.write(await printedSchema());
}
