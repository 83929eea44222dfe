import fc from 'fast-check';
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
} from 'graphql';
import type { FuzzRequest } from './request.js';
import { hostileNumber, hostileText, hostileValue } from './values.js';

/* Operations made of the schema itself: every field, every argument, in every type; and documents that are none. */

const deepest = 4;

const usual: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  ID: fc.integer({ min: 1, max: 8 }).map(String),
  Int: fc.integer({ min: -1, max: 120 }),
  SafeInt: hostileNumber,
  Quota: hostileNumber,
  Timestamp: fc.integer({ min: 0, max: 4_000_000_000 }),
  Boolean: fc.boolean(),
  Float: hostileNumber,
};

function valueFor(type: GraphQLInputType, depth = 0): fc.Arbitrary<unknown> {
  const plain = getNullableType(type);
  if (isListType(plain)) return fc.array(valueFor(plain.ofType, depth + 1), { maxLength: 3 });
  if (isEnumType(plain)) return fc.constantFrom(...plain.getValues().map(({ name }) => name));
  if (isInputObjectType(plain)) {
    const fields = Object.values(plain.getFields());
    const required = fields.filter((field) => isNonNullType(field.type) && field.defaultValue === undefined);
    return fc.record(Object.fromEntries(fields.map((field) => [field.name, valueFor(field.type, depth + 1)])), {
      requiredKeys: required.map(({ name }) => name),
    });
  }
  return fc.oneof(
    { weight: 3, arbitrary: usual[plain.name] ?? hostileText },
    { weight: 1, arbitrary: depth === 0 ? hostileValue : hostileText },
  );
}

interface Operation {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

interface Declared {
  readonly name: string;
  readonly type: string;
  readonly value: unknown;
}

/** Some fields of a type, as deep as allowed; '' where there is nothing to select. */
function selection(type: GraphQLOutputType, depth: number, pick: (count: number) => readonly number[]): string {
  const named = getNamedType(type);
  if (isUnionType(named)) return ' { __typename }';
  if (!isObjectType(named) && !isInterfaceType(named)) return '';
  const fields = Object.values(named.getFields()).filter(
    ({ type: fieldType, args }) =>
      args.every((argument) => !isNonNullType(argument.type) || argument.defaultValue !== undefined) &&
      (depth < deepest || selectionFree(fieldType)),
  );
  const chosen = pick(fields.length).flatMap((index) => fields[index] ?? []);
  const inner = chosen.map((field) => `${field.name}${selection(field.type, depth + 1, pick)}`);
  return ` { __typename ${inner.join(' ')} }`;
}

const selectionFree = (type: GraphQLOutputType): boolean => {
  const named = getNamedType(type);
  return !isObjectType(named) && !isInterfaceType(named) && !isUnionType(named);
};

const argumentsOf = (args: readonly GraphQLArgument[]): fc.Arbitrary<readonly Declared[]> =>
  fc
    .tuple(
      ...args.map((argument) =>
        isNonNullType(argument.type) && argument.defaultValue === undefined
          ? valueFor(argument.type).map((value) => ({ argument, value }))
          : fc.option(valueFor(argument.type).map((value) => ({ argument, value }))),
      ),
    )
    .map((given) =>
      given.flatMap((one) =>
        one === null ? [] : [{ name: one.argument.name, type: String(one.argument.type), value: one.value }],
      ),
    );

/** Ending one's own session would cost the requests that follow theirs. */
const leftOut = new Set(['logout', 'completeSetup']);

const operationOn = (kind: 'query' | 'mutation', field: GraphQLField<unknown, unknown>): fc.Arbitrary<Operation> =>
  fc
    .tuple(argumentsOf(field.args), fc.infiniteStream(fc.nat({ max: 1_000 })), fc.constantFrom(1, 1, 1, 3, 40))
    .map(([declared, numbers, copies]) => {
      const pick = (count: number): readonly number[] =>
        count === 0 ? [] : Array.from({ length: 3 }, () => (numbers.next().value ?? 0) % count);
      const variables = declared.map(({ name, type }) => `$${name}: ${type}`).join(', ');
      const passed = declared.map(({ name }) => `${name}: $${name}`).join(', ');
      const call = `${field.name}${passed === '' ? '' : `(${passed})`}${selection(field.type, 1, pick)}`;
      const fields = Array.from({ length: copies }, (_, index) => (copies === 1 ? call : `a${index}: ${call}`));
      return {
        query: `${kind}${variables === '' ? '' : ` (${variables})`} { ${fields.join(' ')} }`,
        variables: Object.fromEntries(declared.map(({ name, value }) => [name, value])),
      };
    });

const cyclicFragments = (count: number): string =>
  `{ ...f0 } ${Array.from({ length: count }, (_, at) => `fragment f${at} on Query { ...f${(at + 1) % count} ...f${(at * 7) % count} }`).join(' ')}`;

const oddDocuments = fc.constantFrom(
  '',
  '{',
  '{ __typename }',
  '{ __schema { types { name } } }',
  cyclicFragments(3),
  cyclicFragments(60),
  `{ ${'me { id } '.repeat(1_500)} }`,
  `{ ${Array.from({ length: 300 }, (_, at) => `a${at}: searchApiKeys(name: "%") { id }`).join(' ')} }`,
  `${'{ me '.repeat(500)}${'}'.repeat(500)}`,
  `query { me(${'a:1,'.repeat(2_000)}) { id } }`,
  'subscription { liveTraffic { __typename } }',
  'query A { __typename } query A { __typename }',
  'mutation { login(username: "a\u0000", password: "\ud800") { user { id } } }',
);

const headers: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Record<string, string>>({ 'content-type': 'application/json' }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Record<string, string>>(
      {},
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/graphql' },
      { 'content-type': 'application/json', host: '' },
      { 'content-type': 'application/json', host: 'a b' },
      { 'content-type': 'application/json', host: '[::1' },
      { 'content-type': 'application/json', host: 'x:99999999' },
      { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      { 'content-type': 'application/json', origin: 'null' },
    ),
  },
);

export function graphqlRequests(schema: GraphQLSchema): fc.Arbitrary<FuzzRequest> {
  const fieldsOf = (type: ReturnType<GraphQLSchema['getQueryType']>) =>
    Object.values(type?.getFields() ?? {}).filter(({ name }) => !leftOut.has(name));
  const operation = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.constantFrom(...fieldsOf(schema.getQueryType())).chain((field) => operationOn('query', field)),
    },
    {
      weight: 5,
      arbitrary: fc
        .constantFrom(...fieldsOf(schema.getMutationType()))
        .chain((field) => operationOn('mutation', field)),
    },
    { weight: 1, arbitrary: oddDocuments.map((query) => ({ query, variables: {} })) },
  );
  const body: fc.Arbitrary<unknown> = fc.oneof(
    { weight: 20, arbitrary: operation },
    { weight: 1, arbitrary: fc.array(operation, { maxLength: 5 }) },
    { weight: 1, arbitrary: hostileValue },
    { weight: 1, arbitrary: fc.record({ query: hostileValue, variables: hostileValue, extensions: hostileValue }) },
  );
  return fc
    .record({
      body,
      headers,
      as: fc.constantFrom('nobody', 'ordinary', 'admin', 'root', 'root') as fc.Arbitrary<FuzzRequest['as']>,
    })
    .map(({ body: asked, headers: more, as }) => ({
      face: 'graphql',
      method: 'POST',
      path: '/graphql',
      as,
      headers: { 'x-tallygate-client': 'fuzz', ...more },
      body: Buffer.from(JSON.stringify(asked) ?? ''),
    }));
}
