import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway } from '../../../src/bootstrap/gateway.js';
import { readConfig } from '../../../src/config.js';
import { type Answer, type Callers, errorIn, isWholeStream, openCallers } from '../../support/callers/callers.js';
import { type GatewayProcess, startGatewayProcess } from '../../support/gateway/gateway-process.js';
import { signIn } from '../../support/gateway/sign-in.js';
import { apiKeyTerms } from '../../support/given/api-key-terms.js';
import { channelSettings } from '../../support/given/channel-settings.js';
import { quietLog } from '../../support/quiet-log.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/* A gateway with a small heap, and answers that fill it several times over if they are not held within bounds. */

/** With a young generation of one size in all releases of Node: by itself that of 24 is four times that of 20. */
const heap = '--max-old-space-size=256 --max-semi-space-size=16';
const words = 'A ledger is a book of accounts. ';
const pieces = 608;
/** 62.5 kB; 608 of them are 38 MB. */
const piece = words.repeat(1953);
/** Hundreds of megabytes pass through two processes. */
const patienceMs = 120_000;
const models = ['whole', 'two-byte', 'stream', 'whole-as-stream', 'stream-of-one-line', 'too-large', 'small'];

const completion = (member: object) => ({ id: 'x', created: 1, model: 'm', choices: [{ index: 0, ...member }] });

function whole(response: ServerResponse, begin: string, count: number): void {
  const [before, after] = JSON.stringify(
    completion({ message: { role: 'assistant', content: '@' }, finish_reason: 'stop' }),
  ).split('@');
  response.writeHead(200, { 'content-type': 'application/json' });
  write(response, before + begin, piece, count, `${after}`);
}

function stream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const frame = (member: object) => `data: ${JSON.stringify(completion(member))}\n\n`;
  const end = `${frame({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`;
  write(response, '', frame({ delta: { content: piece } }), pieces, end);
}

/** Streams whose first line has not ended. */
const unfinished: ServerResponse[] = [];

function streamOfOneLine(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  // 16 MB; a third of them is more than one user may have held here.
  response.write(`data: {"id":"x","choices":[],"padding":"${piece.repeat(256)}`);
  unfinished.push(response);
}

/** As fast as it is taken. */
function write(response: ServerResponse, begin: string, part: string, count: number, end: string): void {
  response.write(begin);
  let written = 0;
  const more = (): void => {
    while (written++ < count) if (!response.write(part)) return void response.once('drain', more);
    response.end(end);
  };
  more();
}

const serve: Readonly<Record<string, (response: ServerResponse) => void>> = {
  whole: (response) => whole(response, '', pieces),
  'two-byte': (response) => whole(response, '账', pieces),
  'whole-as-stream': (response) => whole(response, '', pieces),
  'too-large': (response) => whole(response, '', pieces * 2),
  small: (response) => whole(response, 'Yes.', 0),
  stream,
  'stream-of-one-line': streamOfOneLine,
};

let dataDir: string;
let upstream: Upstream;
let gateway: GatewayProcess;
let callers: Callers;
const keys: string[] = [];

async function setUp(): Promise<void> {
  const first = await startGateway(readConfig({ DATA_DIR: dataDir, PORT: '0' }), quietLog);
  const { application } = first;
  const password = 'root-password-1';
  await application.visible(
    await application.setup.complete({ username: 'root', password, confirmPassword: password, mode: 'self' }),
  );
  const { user: root } = await signIn(application.identity, 'root', password);
  const settings = channelSettings({ baseUrl: upstream.url, models });
  await application.channels.add(root, { settings, key: 'sk-upstream', proxy: '', enabled: true });
  for (const username of ['one', 'two', 'three']) {
    const { id } = await application.users.create(root, { username, password, displayName: '' });
    await application.visible(await application.users.adjustQuota(root, id, { delta: 1_000_000_000_000 }));
    const terms = apiKeyTerms({ unlimited: true });
    const { key, position } = await application.apiKeys.issue({ id, role: 'ordinary' }, { quota: 0, terms });
    await application.visible(position);
    keys.push(`sk-${key}`);
  }
  await first.stop();
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'tallygate-large-'));
  upstream = await startUpstream(({ body }, response) => {
    const { model } = JSON.parse(body) as { model: string };
    serve[model]?.(response);
  });
  await setUp();
  gateway = await startGatewayProcess(dataDir, { NODE_OPTIONS: heap });
  callers = openCallers(gateway.url);
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

const call = (model: string, user = 0, streamed = model.includes('stream')): Promise<Answer> =>
  callers.with(keys[user] ?? null).chat({ model, stream: streamed, max_tokens: 100 });

const isWhole = ({ status, text }: Answer): boolean =>
  status === 200 && text.length > piece.length * pieces && /(\}|\[DONE\]\s*)$/.test(text.slice(-20));

test.each(['whole', 'two-byte', 'stream', 'whole-as-stream'])(
  'an answer of 38 MB is delivered by a gateway with a heap of 256 MB: %s',
  async (model) => {
    expect(isWhole(await call(model))).toBe(true);
    expect((await call('small')).status).toBe(200);
  },
  patienceMs,
);

test('an answer too large for the heap is refused, with that reason', async () => {
  const answer = await call('too-large');
  expect([answer.status, errorIn(answer)]).toMatchObject([502, { code: 'bad_response_body' }]);
  expect(errorIn(answer).message).toMatch('too large');
});

test(
  'endless lines of streams are buffered up to the same bound',
  async () => {
    const calls = [1, 2, 3].map(() => call('stream-of-one-line'));
    const refused = await Promise.race(calls);
    expect([refused.status, errorIn(refused).code]).toEqual([503, 'answers_exhausted']);
    const end = JSON.stringify(completion({ delta: { content: 'Yes.' }, finish_reason: 'stop' }));
    for (const response of unfinished) response.end(`"}\n\ndata: ${end}\n\ndata: [DONE]\n\n`);
    const answers = await Promise.all(calls);
    expect(answers.filter(isWholeStream)).toHaveLength(2);
    // What was held is given back.
    expect(isWhole(await call('whole'))).toBe(true);
  },
  patienceMs,
);

test(
  'concurrent large answers beyond the bound are refused, the others are delivered, and small ones never wait',
  async () => {
    const many = ['whole', 'stream', 'two-byte', 'stream', 'whole', 'whole-as-stream'];
    const answers = await Promise.all(many.map((model, index) => call(model, index % 3)));
    const small = await Promise.all([0, 1, 2].map((user) => call('small', user)));
    for (const { status } of small) expect(status).toBe(200);
    for (const [index, answer] of answers.entries()) {
      if (isWhole(answer)) continue;
      expect(many[index]).not.toBe('stream');
      expect([answer.status, errorIn(answer).code, answer.headers['retry-after']]).toEqual([
        503,
        'answers_exhausted',
        '1',
      ]);
    }
    expect(answers.filter(isWhole).length).toBeGreaterThan(2);
    // What was held is given back.
    for (const user of [0, 1, 2]) expect(isWhole(await call('whole', user))).toBe(true);
  },
  patienceMs,
);
