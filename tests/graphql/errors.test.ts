import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GraphqlClient, type GraphqlServer, serveGraphql, startGraphql } from './graphql-server.js';

/* What an answer says when something is wrong, and what it never says. */

let server: GraphqlServer;

beforeAll(async () => {
  server = await startGraphql();
});
afterAll(() => server?.stop());

const planted = 'planted-9f3c';

describe('an operation that is refused before it is executed', () => {
  const cases: readonly (readonly [string, string, Record<string, unknown>, string])[] = [
    ['does not parse', `{ me "${planted}" }`, {}, 'GRAPHQL_PARSE_FAILED'],
    ['asks for a field that is not there', '{ me { nothing } }', {}, 'GRAPHQL_VALIDATION_FAILED'],
    ['has a literal of the wrong type', `{ users(page: "${planted}") { total } }`, {}, 'GRAPHQL_VALIDATION_FAILED'],
    [
      'has a literal no enum knows',
      `{ users(sort: ${planted.replace('-', '_')}) { total } }`,
      {},
      'GRAPHQL_VALIDATION_FAILED',
    ],
    [
      'has a variable of the wrong type',
      'query ($page: Int!) { users(page: $page) { total } }',
      { page: planted },
      'BAD_USER_INPUT',
    ],
    [
      'has an input of the wrong shape',
      'mutation ($input: NewUserInput!) { createUser(input: $input) { id } }',
      { input: { username: 'x', password: { text: planted } } },
      'BAD_USER_INPUT',
    ],
    [
      'has an input with a member too many',
      'mutation ($input: NewUserInput!) { createUser(input: $input) { id } }',
      { input: { username: 'x', password: planted, role: 'EMPEROR' } },
      'BAD_USER_INPUT',
    ],
    [
      'has a quota that is no whole number',
      'mutation ($q: Quota!) { adjustQuota(id: 1, delta: $q) { id } }',
      { q: planted },
      'BAD_USER_INPUT',
    ],
  ];
  test.each(cases)('because it %s is answered with 400 and repeats no value', async (_, query, variables, code) => {
    const { status, errors, text } = await server.root.send(query, variables);
    expect(status).toBe(400);
    expect(errors[0]?.extensions).toMatchObject({ code, kind: 'invalid' });
    expect(text).not.toContain('planted');
    expect(text).not.toContain('EMPEROR');
    expect(text).not.toMatch(/stack|node_modules/);
  });
  test('because its body is not JSON is answered with 400 and repeats nothing of it', async () => {
    const response = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"query": ${planted}}`,
    });
    expect(response.status).toBe(400);
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ errors: [{ extensions: { code: 'BAD_REQUEST', kind: 'invalid' } }] });
    expect(text).not.toContain('planted');
  });
  test('because its body is not UTF-8 is answered with 400 and the reason', async () => {
    for (const wrong of [[0xff], [0xe6, 0xbc], [0xed, 0xa0, 0x80]]) {
      const response = await fetch(`${server.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: Buffer.concat([Buffer.from('{"query":"{ __typename }","x":"'), Buffer.from(wrong), Buffer.from('"}')]),
      });
      expect([response.status, await response.json()]).toEqual([
        400,
        { errors: [{ message: 'The body is not UTF-8 text', extensions: { code: 'BAD_REQUEST', kind: 'invalid' } }] },
      ]);
    }
  });
  test('because it is too long or too expensive has that reason', async () => {
    const many = (count: number, field: string) =>
      `{ ${Array.from({ length: count }, (_, n) => `a${n}: ${field}`).join(' ')} }`;
    expect(await server.root.refusal(many(3000, '__typename'))).toMatchObject({ code: 'document-too-long' });
    expect(await server.root.refusal(many(11, 'me { id }'))).toEqual({
      code: 'too-many-fields-at-the-root',
      kind: 'invalid',
      details: { fields: 11, allowed: 10 },
    });
    expect(await server.root.refusal(many(10, 'users(size: 100) { items { id username group } total }'))).toEqual({
      code: 'too-costly',
      kind: 'invalid',
      details: { cost: 10 * (50 + 100 * (1 + 3 + 1)), allowed: 5000 },
    });
  });
  test('because it is too deep has that reason', async () => {
    const face = await serveGraphql(server.gateway.application, { limits: { depth: 2, cost: 5000 } });
    const client = new GraphqlClient(face.url);
    client.cookie = server.root.cookie;
    expect(await client.refusal('{ users { items { id } } }')).toEqual({
      code: 'too-deep',
      kind: 'invalid',
      details: { depth: 3, allowed: 2 },
    });
    await face.stop();
  });
  test('because it is a batch is answered with 400', async () => {
    const { status } = await server.root.send(
      '',
      {},
      { body: JSON.stringify([{ query: '{ me { id } }' }, { query: '{ me { id } }' }]) },
    );
    expect(status).toBe(400);
  });
  test('because it is a subscription names the endpoint for those', async () => {
    expect(await server.root.refusal('subscription { balance { available } }')).toMatchObject({
      code: 'subscription-over-http',
    });
  });
});

describe('an operation that was executed', () => {
  test('is answered with 200, and code, kind and details of each refusal', async () => {
    const { status, errors } = await server.root.send('{ user(id: "0") { id } }');
    expect(status).toBe(200);
    expect(errors).toEqual([
      {
        message: 'Invalid field',
        path: ['user'],
        locations: [{ line: 1, column: 3 }],
        extensions: {
          code: 'invalid-field',
          kind: 'invalid',
          details: { field: 'user id', allowed: 'a positive integer' },
        },
      },
    ]);
  });
  test('that fails internally discloses nothing; the log has the cause', async () => {
    const original = server.gateway.application.queries.groupNames;
    Object.assign(server.gateway.application.queries, {
      groupNames() {
        throw new Error(`a defect that knows ${planted}`);
      },
    });
    const { errors, text } = await server.root.send('{ groups }');
    Object.assign(server.gateway.application.queries, { groupNames: original });
    expect(errors[0]).toMatchObject({
      message: 'Internal error',
      extensions: { code: 'internal-error', kind: 'internal' },
    });
    expect(text).not.toContain('planted');
    expect(server.logged.at(-1)).toMatchObject({
      message: 'a GraphQL operation failed unexpectedly',
      path: 'groups',
      error: expect.stringContaining('a defect that knows'),
    });
  });
  test('is not cacheable', async () => {
    const response = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ __typename }' }),
    });
    expect(response.headers.get('cache-control')).toBe('no-store');
  });
});

describe('the introspection query', () => {
  const introspection = '{ __schema { queryType { name } } }';

  test('is answered for signed-in users', async () => {
    expect(await server.root.ask(introspection)).toEqual({ __schema: { queryType: { name: 'Query' } } });
  });
  test('is refused to all others', async () => {
    const { status, errors } = await server.anonymous().send(introspection);
    expect(status).toBe(403);
    expect(errors[0]?.extensions).toMatchObject({ code: 'introspection-closed', kind: 'forbidden' });
  });
  test('cannot be nested beyond the limit', async () => {
    const nested = `{ __schema { types { ${'fields { type { '.repeat(5)} name ${'} } '.repeat(5)} } } }`;
    expect(await server.root.refusal(nested)).toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED' });
  });
  test('cannot be replaced by guessing: wrong fields get no suggestions', async () => {
    const { errors } = await server.anonymous().send('{ mee { id } }');
    expect(errors[0]?.message).not.toContain('Did you mean');
  });
});
