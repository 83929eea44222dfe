import { createHash } from 'node:crypto';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  Lexer,
  parse,
  Source,
  specifiedRules,
  TokenKind,
  validate,
} from 'graphql';
import { growingLru } from '../../data-structures/growing-lru.js';
import { RequestRefused } from './errors.js';

/*
 * Documents from text, valid against the schema. Validation compares fields with each other and takes quadratic time, so
 * a document is counted before it is looked at any closer, and one that was valid is remembered: the console sends the
 * same few dozen for ever.
 */

/** A small multiple of the console's largest document. */
export const documentLimits = { characters: 6_000, tokens: 640, fragments: 10 } as const;

const remembered = 256;
const maxErrors = 20;
/** Work per token of a document that is new, in the unit of `limits.ts`: measured, at the worst that can be written. */
const costPerToken = 4;

export interface Documents {
  /**
   * Throws InvalidDocument, RequestRefused, or what `pay` throws; it is given what reading a text will cost that has
   * not been read before.
   */
  read(text: string, pay: (cost: number) => void): DocumentNode;
  /** By the SHA-256 of its text, in hexadecimal. */
  known(hash: string): DocumentNode | undefined;
}

/** Every complaint has its `extensions.code`. */
export class InvalidDocument extends Error {
  constructor(readonly complaints: readonly GraphQLError[]) {
    super('the document is not valid');
    this.name = 'InvalidDocument';
  }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

export function openDocuments(schema: GraphQLSchema): Documents {
  const valid = growingLru<string, DocumentNode>(remembered);

  return {
    read(text, pay) {
      if (text.length > documentLimits.characters)
        throw new RequestRefused('document-too-long', {
          characters: text.length,
          allowed: documentLimits.characters,
        });
      const hash = hashOf(text);
      let document = valid.get(hash);
      if (document === undefined) {
        pay(tokensIn(text) * costPerToken);
        document = parsed(text);
        checkFragments(document);
        const wrong = validate(schema, document, specifiedRules, { maxErrors, hideSuggestions: true });
        if (wrong.length > 0)
          throw new InvalidDocument(wrong.map((error) => withCode(error, 'GRAPHQL_VALIDATION_FAILED')));
        valid.set(hash, document);
      }
      return document;
    },
    known: (hash) => valid.get(hash),
  };
}

/** Throws when there are too many; reading them builds nothing. */
function tokensIn(text: string): number {
  const lexer = new Lexer(new Source(text));
  let tokens = 0;
  try {
    while (lexer.advance().kind !== TokenKind.EOF)
      if (++tokens > documentLimits.tokens)
        throw new RequestRefused('document-too-long', { tokens, allowed: documentLimits.tokens });
  } catch (error) {
    throw asInvalid(error);
  }
  return tokens;
}

function parsed(text: string): DocumentNode {
  try {
    return parse(text);
  } catch (error) {
    throw asInvalid(error);
  }
}

const asInvalid = (error: unknown): unknown =>
  error instanceof GraphQLError && !(error instanceof RequestRefused)
    ? new InvalidDocument([withCode(error, 'GRAPHQL_PARSE_FAILED')])
    : error;

/** Every pair of them is compared. */
function checkFragments({ definitions }: DocumentNode): void {
  const fragments = definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION).length;
  if (fragments > documentLimits.fragments)
    throw new RequestRefused('too-many-fragments', { fragments, allowed: documentLimits.fragments });
}

export const withCode = ({ message, nodes, source, positions }: GraphQLError, code: string): GraphQLError =>
  new GraphQLError(message, { nodes, source, positions, extensions: { code } });
