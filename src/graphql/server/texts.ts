import { type ASTNode, type DocumentNode, Kind, type OperationDefinitionNode, visit } from 'graphql';
import { checkText, checkWellFormed, searchText } from '../../domain/kernel/bounds.js';
import { Failure } from '../../domain/kernel/failure.js';
import { RequestRefused } from './errors.js';

/*
 * Every text an operation brings along, whatever field it is for: nothing may reach the database that it cannot hold,
 * and what only searches is short. What a mutation writes is measured by the command it is for.
 */

/** Deeper than any input; the engine refuses what nests further than its type. */
const deepest = 8;

interface Texts {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: { readonly [name: string]: unknown };
}

/** Throws RequestRefused `invalid-field`, naming the argument or the member of an input. */
export function checkTexts({ document, operation, variables }: Texts): void {
  const writes = operation.operation === 'mutation';
  const check = (field: string, text: string): void => {
    try {
      if (writes) checkWellFormed(field, text);
      else checkText(field, text, searchText);
    } catch (error) {
      throw error instanceof Failure ? new RequestRefused('invalid-field', error.details) : error;
    }
  };

  const checkValue = (field: string, value: unknown, depth: number): void => {
    if (typeof value === 'string') check(field, value);
    else if (depth < deepest && Array.isArray(value)) for (const item of value) checkValue(field, item, depth + 1);
    else if (depth < deepest && typeof value === 'object' && value !== null)
      for (const [name, member] of Object.entries(value)) checkValue(name, member, depth + 1);
  };
  for (const [name, value] of Object.entries(variables)) checkValue(name, value, 0);

  visit(document, {
    [Kind.STRING]: (node, _key, _parent, _path, ancestors) => check(fieldOf(ancestors), node.value),
  });
}

/** The argument or member of an input that a literal stands in. */
function fieldOf(ancestors: readonly (ASTNode | readonly ASTNode[])[]): string {
  for (const node of [...ancestors].reverse())
    if ('kind' in node && (node.kind === Kind.ARGUMENT || node.kind === Kind.OBJECT_FIELD)) return node.name.value;
  return 'text';
}
