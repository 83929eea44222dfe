import { getNamedType } from 'graphql';
import { graphqlSchema } from '../../src/graphql/schema.js';

/** A mutation or query with each of its arguments as a variable of the same name. */
export function sampleDocument(kind: 'mutation' | 'query', name: string): string {
  const schema = graphqlSchema();
  const root = kind === 'mutation' ? schema.getMutationType() : schema.getQueryType();
  const field = root?.getFields()[name];
  if (field === undefined) throw new Error(`there is no ${kind} ${name}`);
  const declared = field.args.map((arg) => `$${arg.name}: ${arg.type}`).join(', ');
  const passed = field.args.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
  const chosen =
    'getFields' in getNamedType(field.type) || 'getTypes' in getNamedType(field.type) ? '{ __typename }' : '';
  return `${kind} ${declared && `(${declared})`} { ${name}${passed && `(${passed})`} ${chosen} }`;
}
