import { printedSchema } from '../graphql/schema.js';

/** Prints the GraphQL schema, as committed in schema.graphql. */
export async function schema(): Promise<void> {
  process.stdout.write(await printedSchema());
}
