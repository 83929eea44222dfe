import type { DocumentNode, OperationDefinitionNode } from 'graphql';
import { Failure } from '../domain/failure.js';
import { type Caller, type GraphqlOptions, signedIn } from './context.js';
import { RequestRefused } from './errors.js';
import { checkLimits, measure } from './limits.js';
import { graphqlSchema } from './schema.js';

/* What is asked of every operation before it is executed, whichever way it came. */

/** A document beyond this is refused while it is parsed; the console's longest has a few hundred. */
export const maxTokens = 5000;

export interface OperationRequest {
  /** Valid against the schema. */
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: { readonly [name: string]: unknown };
  readonly caller: Caller;
}

/** Throws RequestRefused: too deep, too costly, or asking for the schema without being signed in. */
export async function admit(
  { document, operation, variables, caller }: OperationRequest,
  { limits, openIntrospection }: Pick<GraphqlOptions, 'limits' | 'openIntrospection'>,
): Promise<void> {
  const measured = measure(graphqlSchema(), document, operation, variables);
  checkLimits(measured, limits);
  if (measured.introspects && !openIntrospection && !(await isSignedIn(caller)))
    throw new RequestRefused('introspection-closed');
}

async function isSignedIn(caller: Caller): Promise<boolean> {
  try {
    await signedIn(caller);
    return true;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}
