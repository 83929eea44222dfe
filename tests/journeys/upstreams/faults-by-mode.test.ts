import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { providers } from '../../../src/relay/providers/registry.js';
import { type Answer, type Caller, type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import { bedrockAnswers } from '../../support/upstreams/bedrock-answers.js';
import { documentedAddresses } from '../../support/upstreams/documented-addresses.js';
import { grantedToken, newerAnswers } from '../../support/upstreams/newer-answers.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';
import { hunyuanWires } from '../../support/upstreams/vendor-wires/hunyuan.js';
import { wenxinWires } from '../../support/upstreams/vendor-wires/wenxin.js';

/*
 * Modes beside chat whose answers have a form of their own at some providers. Well answered they are tested by their
 * recordings; here every one of them fails, at every provider that has it, and nobody is charged.
 */

type Mode = 'completions' | 'responses' | 'embeddings' | 'rerank' | 'moderation';
type Course = 401 | 429 | 500 | 'cut' | 'silent' | 'null';

interface Cell {
  readonly type: number;
  readonly mode: Mode;
  readonly model: string;
}

const quota = 10_000_000;
const usualKey = 'sk-planted-0123456789';
const documented = new Set(
  documentedAddresses.flatMap(({ type, paths }) => Object.keys(paths).map((mode) => `${type} ${mode}`)),
);
/** Where an answer's form follows from the model's name. */
const names: Readonly<Record<string, string>> = {
  '33 responses': 'openai.gpt-oss-120b',
  '41 embeddings': 'text-embedding-005',
  '41 responses': 'openai/gpt-oss-120b-maas',
};
const modes: readonly Mode[] = ['completions', 'responses', 'embeddings', 'rerank', 'moderation'];
const cells: readonly Cell[] = providers.flatMap((provider) =>
  modes
    .filter((mode) => provider.modes.includes(mode) && !documented.has(`${provider.type} ${mode}`))
    .map((mode) => ({
      ...{ type: provider.type, mode },
      model: names[`${provider.type} ${mode}`] ?? `m-${provider.type}-${mode}`,
    })),
);
const vendors = [...wenxinWires, ...hunyuanWires];
const bedrock = bedrockAnswers.find(({ basePath }) => basePath === '/openai/v1');
const vertex = newerAnswers.find(({ type }) => type === 41);
/** What nobody may be shown. */
const secretsOf = (type: number): readonly string[] => {
  const vendor = vendors.find((one) => one.type === type);
  if (vendor !== undefined) return vendor.secrets;
  if (type === 33) return [bedrock?.shownKey ?? ''];
  return [type === 41 ? (vertex?.key ?? '') : usualKey];
};

let gateway: TestGateway;
let callers: Callers;
let caller: Caller;
const started: Upstream[] = [];
let user: TestUser;
let course: Course = 401;
/** Which have been asked, by their models. */
const reached = new Set<string>();

function fail({ type }: Cell, response: ServerResponse): void {
  const message = `Not now, holder of ${secretsOf(type).join(' and ')}.`;
  const status = typeof course === 'number' ? course : 200;
  response.writeHead(status, { 'content-type': 'application/json' });
  if (course === 'null') return void response.end('null');
  if (status !== 200) return void response.end(JSON.stringify({ error: { message, type: 'some_error' } }));
  response.write('{"', () => (course === 'cut' ? response.destroy() : undefined));
}

async function openUpstream(cell: Cell): Promise<string> {
  const upstream = await startUpstream((call, response) => {
    if (call.url === '/token') return void response.end(grantedToken);
    if (vendors.some(({ side }) => side?.(call, response))) return;
    reached.add(cell.model);
    fail(cell, response);
  });
  started.push(upstream);
  return upstream.url;
}

const settingsOf = ({ type, mode }: Cell, url: string) => {
  const vendor = vendors.find((one) => one.type === type);
  if (vendor !== undefined) return { key: vendor.key, other: vendor.other ?? '' };
  if (type === 33) return { key: bedrock?.key ?? '', baseUrl: `${url}/openai/v1` };
  if (type === 41) return { key: vertex?.keyAt?.(url) ?? '', other: vertex?.other ?? '' };
  if (type === 8) return { baseUrl: `${url}/v1/${mode}` };
  return { other: type === 39 ? 'account' : '' };
};

beforeAll(async () => {
  gateway = await startTestGateway({ RELAY_TIMEOUT: '2', STREAMING_TIMEOUT: '2', CALLER_GONE_SECONDS: '1' });
  callers = openCallers(gateway.url);
  const ones = JSON.stringify(Object.fromEntries(cells.map(({ model }) => [model, 1])));
  await gateway.setOption('ModelRatio', ones);
  await gateway.setOption('RetryTimes', '0');
  for (const cell of cells) {
    const { type, mode, model } = cell;
    const setting = mode === 'responses' && type !== 8 ? '{"responses":true}' : null;
    const url = await openUpstream(cell);
    const usual = { key: usualKey, baseUrl: url, autoBan: false, setting };
    await gateway.addChannel({ ...usual, ...settingsOf(cell, url), type, models: [model] });
  }
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  for (const upstream of started) await upstream.stop();
});
beforeEach(async () => {
  user = await gateway.addUser(quota);
  caller = callers.with(await gateway.addApiKey(user));
});

const asked: Readonly<Record<Mode, readonly [path: string, body: object]>> = {
  completions: ['/v1/completions', { prompt: 'A ledger is' }],
  responses: ['/v1/responses', { input: 'What is a ledger?' }],
  embeddings: ['/v1/embeddings', { input: 'What is a ledger?' }],
  rerank: ['/v1/rerank', { query: 'What is a ledger?', documents: ['A dog.', 'A list of debts.'] }],
  moderation: ['/v1/moderations', { input: 'What is a ledger?' }],
};

const ask = ({ mode, model }: Cell): Promise<Answer> => {
  const [path, body] = asked[mode];
  return caller.send(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: { model, ...body },
  });
};

describe('modes with answers of their own', () => {
  test('are those of the types that this journey is about', () => {
    const types = new Set(cells.map(({ type }) => type));
    expect([...types]).toEqual(expect.arrayContaining([4, 15, 17, 23, 24, 33, 34, 41]));
  });

  test.each([401, 429, 500, 'cut', 'silent', 'null'] as const)(
    'cost nothing and show no key where they end in %s',
    async (next) => {
      course = next;
      reached.clear();
      const seen = await Promise.all(
        cells.map(async (cell) => {
          const answer = await ask(cell);
          const shown = secretsOf(cell.type).filter((secret) => answer.text.includes(secret));
          const failed = answer.status >= 400 && errorIn(answer).message !== '' && reached.has(cell.model);
          return [`type ${cell.type}, ${cell.mode}`, failed ? shown : `${answer.status} ${answer.text}`] as const;
        }),
      );
      expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(seen.map(([name]) => [name, []])));
      expect(await until(async () => ((await gateway.available(user)) === quota ? true : null))).toBe(true);
    },
  );
});
