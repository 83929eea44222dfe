import type { DocumentNode, OperationDefinitionNode } from 'graphql';
import { Failure } from '../../domain/kernel/failure.js';
import { graphqlSchema } from '../schema.js';
import { type GraphqlCaller, type GraphqlOptions, signedIn } from './context.js';
import { RequestRefused } from './errors.js';
import { checkLimits, measureOperation } from './limits.js';
import { checkTexts } from './texts.js';
import { payerOf, payFor } from './work.js';

/* What is asked of every operation before it is executed, whichever way it came. */

interface OperationRequest {
  /** Valid against the schema. */
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: { readonly [name: string]: unknown };
  readonly caller: GraphqlCaller;
  readonly address: string;
}

/**
 * Throws RequestRefused: a text nobody could store or look for, too deep, too costly, more than is left to the caller, or
 * the schema to who is not signed in.
 */
export async function admit(
  { document, operation, variables, caller, address }: OperationRequest,
  { limits, openIntrospection, work }: Pick<GraphqlOptions, 'limits' | 'openIntrospection' | 'work'>,
): Promise<void> {
  checkTexts({ document, operation, variables });
  const measured = measureOperation(graphqlSchema(), document, operation, variables);
  checkLimits(measured, limits);
  payFor(work, await payerOf(caller, address), measured.cost);
  if (measured.introspects && !openIntrospection && !(await isSignedIn(caller)))
    throw new RequestRefused('introspection-closed');
}

async function isSignedIn(caller: GraphqlCaller): Promise<boolean> {
  try {
    await signedIn(caller);
    return true;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}
