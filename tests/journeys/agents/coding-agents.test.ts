import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { isObject, objectsIn, parseJson, textIn } from '../../../src/relay/json/json.js';
import { type Agent, agentSetup, agents } from '../../../web/src/tokens/agentSetup.js';
import { drivenAgents, proof } from '../../support/agents/driven-agents.js';
import { installedAgent, path, runToEnd } from '../../support/agents/installed-agent.js';
import { type WatchedGateway, watchGateway } from '../../support/agents/watched-gateway.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import { type DialectUpstream, protocols, startDialectUpstream } from '../../support/upstreams/dialect-upstreams.js';
import { callItem, messageItem, responseOf, streamOf } from '../../support/upstreams/responses-answers.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/*
 * Coding agents of the registries, started without a terminal in a home of their own, with the lines that the console
 * shows: a prompt, a command that they carry out, an answer.
 */

/** Longest that an agent may take for a prompt with a command. They take seconds on an idle machine. */
const agentMs = 150_000;
const installMs = 300_000;
const responsesModel = 'gpt-5';
/** Gemini CLI asks for others of Google's models by the names of their successors. */
const ownGemini = 'gemini-2.5-pro';

let gateway: TestGateway;
let watched: WatchedGateway;
let upstreams: readonly DialectUpstream[] = [];
let responses: Upstream;
/** Before each answer of an upstream. */
let silence: () => Promise<void> = async () => {};

beforeAll(async () => {
  if (!process.env.CODING_AGENTS_DIR) return;
  gateway = await startTestGateway();
  watched = await watchGateway(gateway.url);
  await gateway.setOption('SelfUseModeEnabled', 'true');
  upstreams = await Promise.all(protocols.map(startDialectUpstream));
  for (const { type, url, protocol, model } of upstreams)
    await gateway.addChannel({
      ...{ type, baseUrl: url, models: protocol === 'gemini' ? [model, ownGemini] : [model] },
      // Its type has Responses as well, and it has not.
      ...(protocol === 'openai' && { setting: '{"chat_only":true}' }),
    });
  responses = await startResponsesUpstream();
  await gateway.addChannel({ type: 1, baseUrl: responses.url, models: [responsesModel] });
});
afterAll(async () => {
  for (const upstream of upstreams) await upstream.stop();
  await responses?.stop();
  await watched?.stop();
  await gateway?.stop();
});

/** Answers Codex, whose calls and results are items. */
const startResponsesUpstream = (): Promise<Upstream> =>
  startUpstream(async ({ body }, response) => {
    const asked = parseJson(body);
    const items = isObject(asked) ? objectsIn(asked.input) : [];
    const tools = isObject(asked) ? objectsIn(asked.tools).flatMap(({ name }) => textIn(name) ?? []) : [];
    const results = items.flatMap(({ type, output }) =>
      type === 'function_call_output' ? JSON.stringify(output) : [],
    );
    const { text = '', calls: [call] = [] } = drivenAgents.codex.answer({ tools, results });
    const item = call === undefined ? messageItem(text) : { ...callItem(JSON.stringify(call.args)), name: call.name };
    await silence();
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(streamOf(responseOf([item])));
  });

interface Started {
  readonly agent: Agent;
  readonly model: string;
  readonly user: TestUser;
  /** At the end of its file of settings. Left out: nothing. */
  readonly more?: string;
}

/** Starts the agent as the console says; what it has put out, and whether it did what it was answered. */
async function startAgent(program: string, { agent, model, user, more = '' }: Started) {
  const { args, env, result } = drivenAgents[agent];
  const key = await gateway.addApiKey(user);
  const setup = agentSetup(agent, { address: watched.url, key, model });
  const home = mkdtempSync(join(tmpdir(), 'coding-agent-'));
  try {
    const cwd = join(home, 'project');
    mkdirSync(cwd);
    if (setup.file !== null) {
      const file = setup.file.path.replace('~', home);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, setup.file.text + more);
    }
    const settings = { ...path, HOME: home, TMPDIR: home, NO_COLOR: '1', ...env, ...Object.fromEntries(setup.env) };
    const finished = await runToEnd(program, args, { cwd, env: settings, timeoutMs: agentMs });
    expect({ ...finished, output: finished.code === 0 ? '' : finished.output }).toEqual({ code: 0, output: '' });
    return result(finished.output, cwd);
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function expectCarriedOut(agent: Agent, model: string, { skip }: TestContext, more?: string): Promise<void> {
  const installed = await installedAgent(agent);
  if (typeof installed === 'string') return skip(installed);
  const user = await gateway.addUser(100_000_000);
  expect(await startAgent(installed.program, { agent, model, user, ...(more && { more }) })).toContain(proof);
  await until(async () => {
    const lines = await gateway.application.queries.logBefore(user.actor, {}, { limit: 20 }, true);
    return lines.filter(({ quota }) => quota > 0).length >= drivenAgents[agent].calls ? true : null;
  });
}

/** The model of an upstream of this wire, which answers this agent. */
function modelFor(agent: Agent, wire: DialectUpstream['protocol']): string {
  const upstream = upstreams.find(({ protocol }) => protocol === wire);
  if (upstream === undefined) throw new Error(`no upstream of ${wire}`);
  upstream.converses(async (received) => {
    await silence();
    return drivenAgents[agent].answer(received);
  });
  return agent === 'geminiCli' && wire === 'gemini' ? ownGemini : upstream.model;
}

const limit = { timeout: installMs + agentMs };

describe.runIf(process.env.CODING_AGENTS_DIR)('coding agents installed in CODING_AGENTS_DIR', () => {
  test.for(agents.flatMap((agent) => protocols.map((wire) => [agent, wire] as const)))(
    'carry out what an upstream answers: %s over %s',
    limit,
    ([agent, wire], context) => expectCarriedOut(agent, modelFor(agent, wire), context),
  );

  test('carry out what an upstream answers: codex over Responses', limit, (context) =>
    expectCarriedOut('codex', responsesModel, context),
  );

  test.for([null, ...protocols])(
    'carry out what an upstream answers: codex over a WebSocket, at an upstream of %s',
    limit,
    async (wire, context) => {
      const before = watched.webSockets();
      const model = wire === null ? responsesModel : modelFor('codex', wire);
      await expectCarriedOut('codex', model, context, '\nsupports_websockets = true\n');
      expect(watched.webSockets()).toBeGreaterThan(before);
    },
  );

  test('use HTTP where the operator has switched WebSockets off: codex', limit, async (context) => {
    await gateway.setOption('general_setting.responses_websocket', 'false');
    try {
      const before = watched.webSockets();
      await expectCarriedOut('codex', responsesModel, context, '\nsupports_websockets = true\n');
      expect(watched.webSockets()).toBe(before);
    } finally {
      await gateway.setOption('general_setting.responses_websocket', 'true');
    }
  });

  test.for([
    ['claudeCode', 'anthropic'],
    ['geminiCli', 'gemini'],
    ['opencode', 'openai'],
    ['aider', 'openai'],
    ['codex', null],
  ] as const)('accept heartbeats before an answer: %s', limit, async ([agent, wire], context) => {
    await gateway.setOption('general_setting.ping_interval_enabled', 'true');
    await gateway.setOption('general_setting.ping_interval_seconds', '1');
    silence = () => watched.heartbeats(2);
    try {
      const model = wire === null ? responsesModel : modelFor(agent, wire);
      await expectCarriedOut(agent, model, context);
    } finally {
      silence = async () => {};
      await gateway.setOption('general_setting.ping_interval_enabled', 'false');
    }
  });
});
