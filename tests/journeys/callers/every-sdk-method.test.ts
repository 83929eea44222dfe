import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isObject, type JsonObject, parseJson } from '../../../src/relay/json/json.js';
import { runToEnd } from '../../support/agents/installed-agent.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import { type KeepingUpstream, startKeepingUpstream } from '../../support/upstreams/keeping-upstream.js';

/*
 * Every method of the official SDK's `responses` and `conversations`. The newest major needs a newer Node: it is tried
 * where NEWEST_SDK_DIR names a folder in which `npm install openai node` was run.
 */

const program = fileURLToPath(new URL('../../support/callers/openai-methods.mjs', import.meta.url));
const newest = process.env.NEWEST_SDK_DIR ?? '';

/** A turn of a conversation must be able to pay the largest context. */
const quota = 1_000_000_000;

let gateway: TestGateway;
let upstream: KeepingUpstream;
let user: TestUser;
let apiKey: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  upstream = await startKeepingUpstream();
  for (const option of ['ModelRatio', 'CompletionRatio']) await gateway.setOption(option, '{"m":1}');
  await gateway.addChannel({ type: 1, models: ['m'], baseUrl: upstream.url });
  user = await gateway.addUser(quota);
  apiKey = await gateway.addApiKey(user);
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

async function tried(node: string, folder: string): Promise<JsonObject> {
  const args = [program, folder, `${gateway.url}/v1`, apiKey];
  const { code, output } = await runToEnd(node, args, { cwd: dirname(program), env: {}, timeoutMs: 60_000 });
  const found = parseJson(output.trim().split('\n').at(-1) ?? '');
  if (code !== 0 || !isObject(found)) throw new Error(output);
  return found;
}

test('every method of the SDK in use returns the expected result, and nothing remains reserved', async () => {
  const { known, done, wrong } = await tried(process.execPath, dirname(fileURLToPath(import.meta.resolve('openai'))));
  expect(wrong).toEqual([]);
  expect([...(known as string[])].sort()).toEqual([...(done as string[])].sort());
  await settled();
});

const node = join(newest, 'node_modules/node/bin/node');
const folder = join(newest, 'node_modules/openai');
const missing =
  newest === ''
    ? 'NEWEST_SDK_DIR names no folder with the newest SDK and a newer Node'
    : [node, folder].every((path) => existsSync(path))
      ? null
      : `${newest} lacks node or openai: npm install openai node`;
if (missing !== null) console.warn(`The newest SDK is not tried: ${missing}`);

test.skipIf(missing !== null)('every method of the newest SDK returns the expected result', async () => {
  const { version, known, done, wrong } = await tried(node, folder);
  expect(wrong).toEqual([]);
  expect([...(known as string[])].sort()).toEqual([...(done as string[])].sort());
  expect(Number(String(version).split('.')[0])).toBeGreaterThanOrEqual(7);
  await settled();
});

/** What is charged is what the log says, and nothing else is held. */
async function settled(): Promise<void> {
  await until(async () => {
    const lines = await gateway.application.queries.logBefore(user.actor, {}, { limit: 200 }, true);
    const spent = lines.reduce((sum, line) => (line.usage_source ? sum + Number(line.quota) : sum), 0);
    return (await gateway.available(user)) === quota - spent ? true : null;
  });
}
