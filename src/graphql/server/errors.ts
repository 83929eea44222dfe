import type { ValidationError } from 'class-validator';
import { type ASTNode, GraphQLError, type GraphQLFormattedError, Kind, print } from 'graphql';
import { ArgumentValidationError } from 'type-graphql';
import { Failure, type FailureKind, isUnavailable } from '../../domain/kernel/failure.js';

/*
 * How this face says no. Every error carries `extensions.code`, `extensions.kind` and, where there is something to
 * show, `extensions.details`. An operation that was executed answers 200, whatever its fields say; one that was refused
 * before answers the status below. No message repeats what was submitted: it may be a password in the wrong field.
 */

/** What this face refuses by itself, before or instead of executing an operation. */
export const refusals = {
  'document-too-long': { kind: 'invalid', status: 400 },
  'too-many-fragments': { kind: 'invalid', status: 400 },
  'too-many-fields-at-the-root': { kind: 'invalid', status: 400 },
  'invalid-field': { kind: 'invalid', status: 400 },
  'too-deep': { kind: 'invalid', status: 400 },
  'too-costly': { kind: 'invalid', status: 400 },
  'subscription-over-http': { kind: 'invalid', status: 400 },
  'only-subscriptions-here': { kind: 'invalid', status: 400 },
  'introspection-closed': { kind: 'forbidden', status: 403 },
  'foreign-page': { kind: 'forbidden', status: 403 },
  'client-header-missing': { kind: 'forbidden', status: 403 },
  'too-many-attempts': { kind: 'exhausted', status: 429 },
  'too-much-work': { kind: 'exhausted', status: 429 },
  'too-many-subscriptions': { kind: 'exhausted', status: 429 },
} as const satisfies Record<string, { kind: FailureKind; status: number }>;

type RefusalCode = keyof typeof refusals;
type Details = Failure['details'];

/** `role-too-low` → `Role too low`. */
const sentence = (code: string): string => `${code.charAt(0).toUpperCase()}${code.slice(1).replaceAll('-', ' ')}`;

export class RequestRefused extends GraphQLError {
  constructor(code: RefusalCode, details: Details = {}) {
    const { kind, status } = refusals[code];
    const { retryAfterSeconds } = details;
    const headers = new Map(retryAfterSeconds === undefined ? [] : [['retry-after', String(retryAfterSeconds)]]);
    super(sentence(code), { extensions: { code, kind, details, http: { status, headers } } });
    this.name = 'RequestRefused';
  }
}

export interface ErrorLog {
  error(facts: Record<string, unknown>, message: string): void;
}

/** What kept a request from being executed, as a refusal with its status where it may be asked again. */
export function notExecuted(error: unknown): unknown {
  if (!isUnavailable(error)) return error;
  return new GraphQLError('', { originalError: error, extensions: { http: { status: 503 } } });
}

/** Codes of errors about the request itself, from the GraphQL engine; their texts are its own but for what they quote. */
const requestCodes = new Set<unknown>([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'BAD_USER_INPUT',
  'BAD_REQUEST',
  'OPERATION_RESOLUTION_FAILURE',
  'PERSISTED_QUERY_NOT_SUPPORTED',
]);

/** The one mapping from errors to answers, over HTTP and WebSocket alike. What is nobody's fault outside is logged. */
export function answerFor(error: GraphQLError, log: ErrorLog): GraphQLFormattedError {
  const where = {
    ...(error.locations === undefined ? {} : { locations: error.locations }),
    ...(error.path === undefined ? {} : { path: error.path }),
  };
  const cause = causeOf(error);
  if (cause instanceof Failure) {
    const { code, kind } = cause;
    if (kind === 'unavailable') log.error({ code, ...cause.details }, 'a GraphQL operation could not be served');
    // Why the store cannot be reached is the operator's business; the key to ask again with is the caller's.
    const details = code === 'store-unavailable' ? {} : cause.details;
    return { message: sentence(code), ...where, extensions: { code, kind, details } };
  }
  if (cause instanceof RequestRefused) {
    const { code, kind, details } = cause.extensions;
    return { message: cause.message, ...where, extensions: { code, kind, details } };
  }
  if (cause instanceof ArgumentValidationError) {
    const details = firstInvalidField(cause.extensions.validationErrors);
    return {
      message: sentence('invalid-field'),
      ...where,
      extensions: { code: 'invalid-field', kind: 'invalid', details },
    };
  }
  const code = error.extensions.code ?? (isAboutInput(error.nodes) ? 'BAD_USER_INPUT' : undefined);
  if (requestCodes.has(code))
    return { message: unquoted(error, code), ...where, extensions: { code, kind: 'invalid' } };
  log.error(
    { path: error.path?.join('.'), error: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) },
    'a GraphQL operation failed unexpectedly',
  );
  return { message: 'Internal error', ...where, extensions: { code: 'internal-error', kind: 'internal' } };
}

function causeOf(error: GraphQLError): unknown {
  let cause: unknown = error;
  while (cause instanceof GraphQLError && !(cause instanceof RequestRefused) && cause.originalError !== undefined)
    cause = cause.originalError;
  return cause;
}

const isValue = (node: ASTNode | undefined): boolean => node?.kind.endsWith('Value') ?? false;

const isAboutInput = ([node]: readonly ASTNode[] = []): boolean =>
  isValue(node) || node?.kind === Kind.VARIABLE_DEFINITION;

/** The engine quotes wrong values; the place says enough. */
function unquoted(error: GraphQLError, code: unknown): string {
  const [node] = error.nodes ?? [];
  if (node?.kind === Kind.VARIABLE_DEFINITION) {
    // Where in the variable, in the engine's words: member names and numbers, never a value.
    const [, within = ''] = / at "\w+([\w.[\]]{0,100})";/.exec(error.message) ?? [];
    return `The value of $${node.variable.name.value}${within} does not fit its type ${print(node.type)}.`;
  }
  if (isValue(node)) return 'A value does not fit its type.';
  return code === 'GRAPHQL_PARSE_FAILED' ? error.message.replace(/".*"/s, '…') : error.message;
}

/** The deepest first complaint: `{ field: 'input.size', allowed: 'size must not be greater than 100' }`. */
function firstInvalidField(errors: readonly ValidationError[], parent = ''): Details {
  const [first] = errors;
  if (first === undefined) return {};
  const field = `${parent}${first.property}`;
  const [constraint] = Object.values(first.constraints ?? {});
  if (constraint !== undefined) return { field, allowed: constraint };
  return firstInvalidField(first.children ?? [], `${field}.`);
}
