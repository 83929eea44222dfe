import {
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { graphqlSchema } from '../../src/graphql/schema.js';
import {
  type Attack,
  amountAttacks,
  malformedTexts,
  numberAttacks,
  textAttacks,
  textListAttacks,
  typeAttacks,
} from '../support/inputs/attacks.js';
import { type Data, type GraphqlServer, startGraphql } from './graphql-server.js';
import { samples } from './samples.js';

/*
 * Every argument of every mutation, down to the last member of its inputs, found in the schema: a new one is attacked
 * without anybody having to think of it. Whatever is sent, the answer is a refusal that names the field, nothing is
 * written, and the read models go on.
 */

const schema = graphqlSchema();
const mutations = schema.getMutationType()?.getFields() ?? {};
const queries = schema.getQueryType()?.getFields() ?? {};

/** Refused as a whole once the first run is over; tests/application/sign-in/setup.test.ts attacks it while it is not. */
const closed = ['completeSetup'];

/** Names by which a refusal may call a field besides its own. */
const alsoCalled: Readonly<Record<string, readonly string[]>> = {
  'changeOption.value': ['Notice'],
  'changeOptions.changes.value': ['Notice'],
  'changeOptions.changes.key': ['key'],
  // A place in the log that there is not: the option is not as it was seen.
  'changeOptions.changes.seenAt': ['option-changed'],
};

/** Members of an input that one of its mutations has no use for, and does not look at. */
const ignored = new Set(['issueApiKey.input.shownQuota']);

interface Field {
  readonly path: readonly string[];
  readonly type: GraphQLInputType;
}

/** The leaves of an input: members of members, through lists. */
function leavesOf(path: readonly string[], type: GraphQLInputType): Field[] {
  const named = getNamedType(type);
  if (!isInputObjectType(named)) return [{ path, type }];
  return Object.values(named.getFields()).flatMap((field) => leavesOf([...path, field.name], field.type));
}

function attacksOn(type: GraphQLInputType): readonly Attack[] {
  const name = getNamedType(type).name;
  if (isListType(getNullableType(type))) return name === 'String' ? textListAttacks : typeAttacks;
  switch (name) {
    case 'String':
      return textAttacks;
    case 'Int':
    case 'SafeInt':
    case 'Quota':
    case 'Timestamp':
      return numberAttacks;
    case 'Float':
      return amountAttacks;
    case 'ID':
      return [{ name: 'no id', value: 'one' }, ...malformedTexts, ...typeAttacks];
    default:
      return typeAttacks;
  }
}

/** The sample with one leaf replaced; what lies in a list is the list's first. */
function withValue(sample: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  if (Array.isArray(sample)) return [withValue(sample[0], [name, ...rest], value)];
  const members = (sample ?? {}) as Data;
  return { ...members, [name]: withValue(members[name], rest, value) };
}

const documentFor = (kind: 'mutation' | 'query', name: string): string => {
  const field = (kind === 'mutation' ? mutations : queries)[name];
  if (field === undefined) throw new Error(`there is no ${name}`);
  const declared = field.args.map((arg) => `$${arg.name}: ${arg.type}`).join(', ');
  const passed = field.args.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
  const composite = 'getFields' in getNamedType(field.type) ? '{ __typename }' : '';
  const chosen = name === 'changeOptions' ? '{ changed { key } refused { key code field allowed } }' : composite;
  return `${kind} ${declared && `(${declared})`} { ${name}${passed && `(${passed})`} ${chosen} }`;
};

let server: GraphqlServer;

beforeAll(async () => {
  server = await startGraphql();
  const { gateway } = server;
  await gateway.addChannel({ tag: 'some' });
  await gateway.addUser(500, 'alice');
  await gateway.addApiKey({ actor: gateway.root });
});
afterAll(() => server.stop());

/** Where the log ends, found by an event that is written to find out. */
let marks = 0;
async function mark(): Promise<number> {
  const { application, root } = server.gateway;
  const position = await application.options.change(root, 'SystemName', `mark ${++marks}`);
  expect(await application.visible(position), 'every read model still follows the log').toBe(true);
  return Number(position);
}

test('every mutation has a sample, or a reason against one', () =>
  expect([...Object.keys(samples), ...closed].sort()).toEqual(Object.keys(mutations).sort()));

const fieldsOf = (name: string): Field[] =>
  (mutations[name]?.args ?? [])
    .flatMap((arg) => leavesOf([arg.name], arg.type))
    .filter(({ path }) => !ignored.has([name, ...path].join('.')));

describe.each(Object.keys(samples).filter((name) => fieldsOf(name).length > 0))('the mutation %s', (name) => {
  test('refuses values that a field cannot store, names the field and writes nothing', async () => {
    const document = documentFor('mutation', name);
    const before = await mark();
    for (const { path, type } of fieldsOf(name))
      for (const { name: attack, value } of attacksOn(type)) {
        const what = `${attack} in ${[name, ...path].join('.')}`;
        const variables = withValue(samples[name], path, value) as Data;
        const { status, data, errors } = await server.root.send(document, variables);
        expect(status, what).toBeLessThan(500);
        const refused = data?.changeOptions?.refused[0] ?? errors[0]?.extensions;
        expect(refused, what).toBeDefined();
        expect(refused.kind ?? 'invalid', what).toBe('invalid');
        const refusal = `${JSON.stringify(refused)} ${errors[0]?.message ?? ''}`;
        const leaf = path.at(-1) ?? '';
        const names = [
          leaf,
          ...(alsoCalled[[name, ...path].join('.')] ?? []),
          ...(getNamedType(type).name === 'ID' ? ['id'] : []),
        ];
        expect(
          names.some((called) => new RegExp(`\\b${called}\\b`).test(refusal)),
          `${what}: ${refusal}`,
        ).toBe(true);
        expect(refusal.length, 'an answer does not repeat what was sent').toBeLessThan(1000);
      }
    expect(await mark()).toBe(before + 1);
    expect(server.logged).toEqual([]);
  });
});

/** Something that fits a type. */
function sampleOf(type: GraphQLInputType): unknown {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return [sampleOf(nullable.ofType)];
  if (isEnumType(nullable)) return nullable.getValues()[0]?.name;
  if (isInputObjectType(nullable))
    return Object.fromEntries(
      Object.values(nullable.getFields())
        .filter((field) => isNonNullType(field.type))
        .map((field) => [field.name, sampleOf(field.type)]),
    );
  const { name } = getNamedType(type);
  return name === 'String' ? 'text' : name === 'Boolean' ? true : 1;
}

const textsOf = (name: string): Field[] =>
  (queries[name]?.args ?? [])
    .flatMap((arg) => leavesOf([arg.name], arg.type))
    .filter(({ type }) => getNamedType(type).name === 'String');

describe.each(Object.keys(queries).filter((name) => textsOf(name).length > 0))('the query %s', (name) => {
  const args = queries[name]?.args ?? [];

  test('refuses filters that are endless or cannot be stored', async () => {
    const sample = Object.fromEntries(
      args.filter(({ type }) => isNonNullType(type)).map((arg) => [arg.name, sampleOf(arg.type)]),
    );
    for (const { path } of textsOf(name))
      for (const { name: attack, value } of textAttacks) {
        const { status, errors } = await server.root.send(
          documentFor('query', name),
          withValue(sample, path, value) as Data,
        );
        expect([attack, path, status < 500, errors[0]?.extensions.kind]).toEqual([attack, path, true, 'invalid']);
        expect(`${JSON.stringify(errors[0])}`).toMatch(new RegExp(`\\b${path.at(-1)}\\b`));
      }
    expect(server.logged).toEqual([]);
  });
});
