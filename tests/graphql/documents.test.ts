import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  buildSchema,
  concatAST,
  type DocumentNode,
  getIntrospectionQuery,
  getOperationAST,
  Kind,
  Lexer,
  parse,
  print,
  Source,
  separateOperations,
  TokenKind,
  visit,
} from 'graphql';
import { beforeEach, describe, expect, test } from 'vitest';
import { graphqlSchema } from '../../src/graphql/schema.js';
import { type Documents, documentLimits, InvalidDocument, openDocuments } from '../../src/graphql/server/documents.js';
import { checkLimits, measureOperation } from '../../src/graphql/server/limits.js';

const schema = buildSchema('type Query { me: User total: Int } type User { id: ID name: String friend: User }');

let documents: Documents;
let paid: number[];
const read = (text: string): DocumentNode => documents.read(text, (cost) => paid.push(cost));

beforeEach(() => {
  documents = openDocuments(schema);
  paid = [];
});

const refusalOf = (text: string): unknown => {
  try {
    read(text);
  } catch (error) {
    return error;
  }
  throw new Error('it was read');
};

describe('a GraphQL document', () => {
  test('is charged by its tokens when it is new, and never again', () => {
    expect(read('{ me { id } }')).toMatchObject({ kind: Kind.DOCUMENT });
    expect(read('{ me { id } }')).toBe(read('{ me { id } }'));
    expect(paid).toEqual([6 * 4]);
    read('{ me { name } }');
    expect(paid).toHaveLength(2);
  });

  test('that is invalid is charged each time, and has an error message', () => {
    const error = refusalOf('{ me { nam } you }');
    refusalOf('{ me { nam } you }');
    expect(paid).toHaveLength(2);
    expect(error).toBeInstanceOf(InvalidDocument);
    const { complaints } = error as InvalidDocument;
    expect(complaints.map(({ extensions }) => extensions.code)).toEqual([
      'GRAPHQL_VALIDATION_FAILED',
      'GRAPHQL_VALIDATION_FAILED',
    ]);
    expect(complaints.map(({ message }) => message).join()).not.toContain('Did you mean');
    for (const text of ['{ me {', '{ "', '#'])
      expect(refusalOf(text)).toMatchObject({ complaints: [{ extensions: { code: 'GRAPHQL_PARSE_FAILED' } }] });
  });

  test('that exceeds the caller’s rate limit is not parsed', () => {
    const poor = () =>
      documents.read('{ not at all valid', () => {
        throw new Error('nothing left');
      });
    expect(poor).toThrow('nothing left');
  });

  test('of more characters, tokens or fragments than the limit is refused before it is validated', () => {
    expect(refusalOf(`{ me { id } } #${'x'.repeat(6000)}`)).toMatchObject({
      extensions: { code: 'document-too-long' },
    });
    expect(paid).toEqual([]);
    expect(refusalOf(`{ ${'total '.repeat(640)} }`)).toMatchObject({ extensions: { code: 'document-too-long' } });
    expect(paid).toEqual([]);
    const spread = Array.from({ length: 11 }, (_, index) => `...F${index}`).join(' ');
    const fragments = Array.from({ length: 11 }, (_, index) => `fragment F${index} on Query { total }`).join(' ');
    expect(refusalOf(`{ ${spread} } ${fragments}`)).toMatchObject({ extensions: { code: 'too-many-fragments' } });
  });

  test('whose fragments form a cycle is refused as invalid', () => {
    const web = Array.from({ length: 10 }, (_, index) => {
      const others = Array.from({ length: 10 }, (_, other) => `...F${other}`).join(' ');
      return `fragment F${index} on User { friend { ${others} } ${others} }`;
    });
    expect(refusalOf(`{ me { ...F0 } } ${web.join(' ')}`)).toBeInstanceOf(InvalidDocument);
  });

  test('is evicted when hundreds of others have been parsed since, and parsed again', () => {
    read('{ total }');
    for (let index = 0; index < 300; index++) read(`{ a${index}: total }`);
    paid = [];
    read('{ a299: total }');
    expect(paid).toHaveLength(0);
    read('{ total }');
    expect(paid).toHaveLength(1);
  });
});

/** Every operation of the console with its fragments, as its client sends them: with the name of every type asked for. */
function consoleDocuments(): string[] {
  const folder = fileURLToPath(new URL('../../web/src', import.meta.url));
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(({ name }) => name.endsWith('.graphql'))
    .map(({ parentPath, name }) => parse(readFileSync(join(parentPath, name), 'utf8')));
  const typename = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } } as const;
  return Object.values(separateOperations(concatAST(files))).map((document) =>
    print(
      visit(document, {
        SelectionSet: {
          leave: (node, _key, parent) =>
            parent !== undefined && 'kind' in parent && parent.kind === Kind.OPERATION_DEFINITION
              ? undefined
              : { ...node, selections: [...node.selections, typename] },
        },
      }),
    ),
  );
}

const tokensIn = (text: string): number => {
  const lexer = new Lexer(new Source(text));
  let tokens = 0;
  while (lexer.advance().kind !== TokenKind.EOF) tokens++;
  return tokens;
};

const fragmentsIn = (text: string): number =>
  parse(text).definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION).length;

describe('the limits of documents', () => {
  const texts = consoleDocuments();

  test('permit the largest documents of the console, and little more', () => {
    expect(texts.length).toBeGreaterThan(30);
    for (const [limit, count] of [
      [documentLimits.characters, (text: string) => text.length],
      [documentLimits.tokens, tokensIn],
      [documentLimits.fragments, fragmentsIn],
    ] as const) {
      const largest = Math.max(...texts.map(count));
      expect(largest * 1.25).toBeLessThan(limit);
      expect(largest * 4).toBeGreaterThan(limit);
    }
  });

  test('permit the console to query the largest page of everything', () => {
    const own = graphqlSchema();
    const all = openDocuments(own);
    for (const text of texts) {
      const document = all.read(text, () => {});
      const operation = getOperationAST(document);
      if (!operation) throw new Error('one operation is expected');
      const sizes = { size: 100, first: 100 };
      const given = Object.fromEntries(
        (operation.variableDefinitions ?? []).map(({ variable: { name } }) => [
          name.value,
          name.value in sizes ? sizes[name.value as keyof typeof sizes] : name.value === 'after' ? '1' : true,
        ]),
      );
      expect(() =>
        checkLimits(measureOperation(own, document, operation, given), { depth: 10, cost: 5000 }),
      ).not.toThrow();
    }
  });

  test('permit tools to query the schema', () => {
    expect(() => openDocuments(graphqlSchema()).read(getIntrospectionQuery(), () => {})).not.toThrow();
  });
});
