import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { type Caller, type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';

/* Requests nobody makes by mistake: each is answered in the form of the face it came to, and none is a fault of ours. */

const model = 'gpt-4o-mini';

let gateway: TestGateway;
let callers: Callers;
let caller: Caller;

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  await gateway.addChannel({ models: [model, 'text-embedding-3-small'] });
  caller = callers.with(await gateway.addApiKey(await gateway.addUser(100_000_000)));
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
});

/** Whatever is answered to these bytes, until the other end closes. */
async function answerTo(request: string): Promise<string> {
  const { port, hostname } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  socket.write(request);
  await once(socket, 'close');
  return text;
}

describe('a Host header without a valid host', () => {
  const hosts = [
    '[',
    'a b',
    '',
    '@',
    'x:99999',
    'http://x/',
    '%zz',
    '..',
    'x\ty',
    '\u00e9',
    '<script>',
    '[::1',
    'x#y',
    'x?y',
  ];

  test.each(hosts.map((host) => [host]))('such as %j causes no internal error, on any face', async (host) => {
    const body = JSON.stringify({ query: '{ me { id } }' });
    const head = (method: string, path: string) =>
      `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\ncontent-type: application/json\r\n`;
    const requests = [
      `${head('POST', '/graphql')}x-tallygate-client: test\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      `${head('GET', '/graphql?query=%7Bme%7Bid%7D%7D')}x-tallygate-client: test\r\n\r\n`,
      `${head('GET', '/api/status')}\r\n`,
      `${head('GET', '/v1/models')}\r\n`,
      `${head('GET', '/')}\r\n`,
    ];
    for (const request of requests) {
      const text = await answerTo(request);
      expect(text).toMatch(/^HTTP\/1\.1 (200|400|401) /);
    }
  });
});

describe('a GraphQL document', () => {
  const deep = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`;
  const send = async (query: string, rest: JsonObject = {}) => {
    const answer = await callers.with(null).send('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-tallygate-client': 'test' },
      body: JSON.stringify({ query, ...rest }).replace('"deep"', deep),
    });
    return {
      status: answer.status,
      errors: (JSON.parse(answer.text) as { errors?: { extensions: { code: string } }[] }).errors,
    };
  };

  test('with cyclic fragments is invalid, without further effect', async () => {
    for (const count of [1, 2, 10, 11, 60]) {
      const names = Array.from({ length: count }, (_, index) => `F${index}`);
      const spreads = names.map((name) => `...${name}`).join(' ');
      const web = names.map((name) => `fragment ${name} on User { ${spreads} }`).join(' ');
      const { status, errors } = await send(`{ me { ...F0 } } ${web}`);
      expect([count, status]).toEqual([count, 400]);
      expect(errors?.[0]?.extensions.code).toMatch(
        /^(GRAPHQL_VALIDATION_FAILED|too-many-fragments|document-too-long)$/,
      );
    }
  });

  test('with any other member beside it is answered in its own form', async () => {
    const oddities: [string, JsonObject][] = [
      ['{ me { id } }', { variables: 'deep' }],
      ['query ($x: ID!) { user(id: $x) { id } }', { variables: { x: [[[[]]]] } }],
      ['{ me { id } }', { variables: 'text' }],
      ['{ me { id } }', { variables: [] }],
      ['{ me { id } }', { operationName: {} }],
      ['{ me { id } }', { operationName: '__proto__' }],
      ['{ me { id } }', { extensions: 'x' }],
      ['{ me { id } }', { extensions: { persistedQuery: { version: 1, sha256Hash: 'x' } } }],
      [`{ user(id: ${'['.repeat(500)}${']'.repeat(500)}) { id } }`, {}],
      [`{ ${'me { '.repeat(200)} id ${' }'.repeat(200)} }`, {}],
      ['{ user(id: "\\u0000") { id } }', {}],
      ['{ user(id: 99999999999999999999999999) { id } }', {}],
      ['{ me @skip(if: $x) { id } }', {}],
      ['query ($x: Int = "a") { users(page: $x) { total } }', {}],
      ['query Q { me { id } } query Q { me { id } }', {}],
      ['{ __schema { types { fields { type { ofType { ofType { name } } } } } } }', {}],
    ];
    for (const [query, rest] of oddities) {
      const { status } = await send(query, rest);
      expect([query.slice(0, 60), status < 500]).toEqual([query.slice(0, 60), true]);
    }
  });
});

describe('a call', () => {
  const nested = (opening: string, closing: string, depth: number, core = '"x"'): string =>
    opening.repeat(depth) + core + closing.repeat(depth);

  test.each([
    ['lists', '[', ']'],
    ['objects', '{"content":', '}'],
    ['both', '[{"text":', '}]'],
  ])('nested 100,000 deep in %s is refused as such, in any member', async (_, opening, closing) => {
    const deep = nested(opening, closing, 100_000);
    const bodies: [string, string][] = [
      ['/v1/chat/completions', `{"model":"${model}","messages":[{"role":"user","content":${deep}}]}`],
      ['/v1/chat/completions', `{"model":"${model}","messages":[{"role":"user","content":"x"}],"tools":${deep}}`],
      ['/v1/completions', `{"model":"${model}","prompt":${deep}}`],
      ['/v1/embeddings', `{"model":"text-embedding-3-small","input":${deep}}`],
      ['/v1/chat/completions', deep],
    ];
    for (const [path, body] of bodies) {
      const answer = await caller.send(path, { method: 'POST', body });
      expect([path, answer.status, errorIn(answer).code]).toEqual([path, 400, 'invalid_request']);
      expect(errorIn(answer).message).toContain('128');
    }
    expect(gateway.provider.tally().calls).toBe(0);
  });

  test('nested up to the limit is handled like any other', async () => {
    const deep = nested('[', ']', 120);
    for (const [path, body] of [
      ['/v1/chat/completions', `{"model":"${model}","messages":[{"role":"user","content":${deep}}]}`],
      ['/v1/completions', `{"model":"${model}","prompt":${deep}}`],
      ['/v1/embeddings', `{"model":"text-embedding-3-small","input":${deep}}`],
    ] as const)
      expect((await caller.send(path, { method: 'POST', body })).status).toBeLessThan(500);
  });

  test('with millions of values is refused before they are parsed', async () => {
    const body = `{"model":"text-embedding-3-small","input":[${'[],'.repeat(2_000_000)}[]]}`;
    const answer = await caller.send('/v1/embeddings', { method: 'POST', body });
    expect([answer.status, errorIn(answer).code]).toEqual([400, 'invalid_request']);
  });
});

describe('a WebSocket message outside the protocol', () => {
  const url = () => `${gateway.url.replace('http', 'ws')}/graphql`;

  async function closeCode(
    messages: readonly (string | Buffer)[],
    protocols = ['graphql-transport-ws'],
  ): Promise<number> {
    const socket = new WebSocket(url(), protocols);
    await once(socket, 'open');
    for (const message of messages) socket.send(message);
    const [code] = (await once(socket, 'close')) as [number];
    return code;
  }

  const init = '{"type":"connection_init"}';
  test.each([
    ['binary', [Buffer.from([0, 1, 2, 255])], 4400],
    ['no JSON', ['hello'], 4400],
    ['no message', ['[]'], 4400],
    ['null', ['null'], 4400],
    ['a number', ['17'], 4400],
    ['nested too deeply to be read', ['['.repeat(30_000)], 4400],
    ['of an unknown type', ['{"type":"__proto__"}'], 4400],
    ['out of order', ['{"type":"subscribe","id":"1","payload":{"query":"{a}"}}'], 4401],
    ['only servers send', ['{"type":"connection_ack"}'], 4400],
    ['for an operation nobody began', ['{"type":"next","id":"1","payload":{}}'], 4400],
    ['without a query', ['{"type":"subscribe","id":"1","payload":{}}'], 4400],
    ['longer than any', ['x'.repeat(70 * 1024)], 1009],
  ] as [string, (string | Buffer)[], number][])(
    '(%s) closes that connection with the code for it',
    async (_, messages, code) => {
      const before = gateway.logged.length;
      expect(await closeCode(messages)).toBe(code);
      const errors = gateway.logged.slice(before).filter((line) => (JSON.parse(line) as { level: number }).level >= 50);
      expect(errors).toEqual([]);
    },
  );

  test('of endless length closes it too', async () => {
    const ping = '{"type":"ping"}';
    const socket = new WebSocket(url(), ['graphql-transport-ws']);
    await once(socket, 'open');
    const closed = once(socket, 'close') as Promise<[number]>;
    for (let sent = 0; sent < 1_201; sent++) socket.send(ping);
    // Who is slow has earned some more meanwhile. Few at a time: what is still unread when the other side closes can cost
    // the closing code.
    const more = setInterval(() => socket.readyState === WebSocket.OPEN && socket.send(ping), 5);
    expect((await closed)[0]).toBe(1008);
    clearInterval(more);
  });

  test('or in another protocol closes it too, and others are not affected', async () => {
    expect(await closeCode([init], [])).toBe(4406);
    const answer = await callers.with(null).send('/api/status');
    expect(answer.status).toBe(200);
  });
});
