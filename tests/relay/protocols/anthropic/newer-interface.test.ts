import { describe, expect, test } from 'vitest';
import { claudeSettings } from '../../../../src/application/options/claude-settings.js';
import { messages } from '../../../../src/relay/dialects/anthropic/endpoints/messages.js';
import { openAiCaller } from '../../../../src/relay/dialects/openai/dialect.js';
import type { JsonObject } from '../../../../src/relay/json/json.js';
import { toolCallsOf } from '../../../../src/relay/metering/tool-calls.js';
import { keptUpstream } from '../../../../src/relay/pipeline/kept/kept-upstream.js';
import { wordsOf } from '../../../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, providerOfType, usualOptions, usualSwitches } from '../../providers/golden.js';

/* What Anthropic's interface has had since version 2026-10-21, on its way to Anthropic itself. */

const newer = '2026-10-21';
const said = [{ role: 'user', content: 'What is a ledger?' }];

interface Asked {
  readonly type?: number;
  readonly body?: JsonObject;
  readonly headers?: Record<string, string>;
  readonly override?: JsonObject;
  readonly model?: string;
  readonly configured?: JsonObject;
  readonly dialect?: 'anthropic' | 'openai';
}

function sent({ type = 14, body = {}, headers = {}, override, model = 'claude-sonnet-4-5', ...more }: Asked) {
  const provider = providerOfType(type);
  const base = callerOf('chat', { model, max_tokens: 4_000, messages: said, ...body });
  const own = more.dialect !== 'openai';
  const caller = { ...base, headers, maxOutput: 64_000, dialect: own ? messages.dialect : openAiCaller };
  const claude = claudeSettings('{"default":8192}', JSON.stringify(more.configured ?? {}), usualSwitches);
  const key = type === 33 ? 'AKIDEXAMPLE|secret|us-east-1' : plainChannel.key;
  const channel = { ...plainChannel, key, paramOverride: override ?? null };
  const request = provider.protocol.request({ provider, channel, caller, model, options: { ...usualOptions, claude } });
  return { body: JSON.parse(wordsOf(request.content)) as JsonObject, headers: request.headers };
}

const sampling = ({ temperature, top_p, top_k }: JsonObject) => ({ temperature, top_p, top_k });
const none = sampling({});
const overridden = { temperature: 0.3, top_p: 0.5, top_k: 5, metadata: { user_id: 'u' } };

describe('a version of the interface that refuses sampling', () => {
  test.each<[string, Asked]>([
    ['a parameter override', { override: overridden }],
    ['a model name that enables thinking', { model: 'claude-sonnet-4-5-thinking' }],
    ['both', { model: 'claude-sonnet-4-5-thinking', override: overridden }],
  ])('is sent none by %s', (_, asked) => {
    const { body, headers } = sent({ ...asked, headers: { 'anthropic-version': newer } });
    expect([sampling(body), headers['anthropic-version']]).toEqual([none, newer]);
    if (asked.override !== undefined) expect(body.metadata).toEqual(overridden.metadata);
  });

  test('is sent what its caller says of sampling itself, for the upstream to refuse', () => {
    const { body } = sent({
      body: { temperature: 1 },
      override: overridden,
      headers: { 'anthropic-version': newer },
    });
    expect(sampling(body)).toEqual({ ...none, temperature: 1 });
  });

  test.each<[string, Asked]>([
    ['callers of Anthropic’s dialect', { body: { temperature: 1 } }],
    ['callers of OpenAI’s dialect', { body: { temperature: 0.4, top_p: 0.2 }, dialect: 'openai' }],
  ])('is sent none for %s where the operator has configured that version', (_, asked) => {
    const configured = { 'claude-sonnet-4-5': { 'anthropic-version': [newer] } };
    const { body, headers } = sent({ ...asked, override: overridden, configured });
    expect([sampling(body), headers['anthropic-version']]).toEqual([none, newer]);
  });

  test.each<[string, Asked]>([
    ['an older version', { headers: { 'anthropic-version': '2023-06-01' } }],
    ['no version', {}],
    ['a version that reads as none', { headers: { 'anthropic-version': 'newest' } }],
    ['a cloud that has versions of its own', { type: 33, headers: { 'anthropic-version': newer } }],
  ])('is not what this is: %s is sent the operator’s sampling', (_, asked) => {
    expect(sampling(sent({ ...asked, override: overridden }).body)).toEqual(sampling(overridden));
  });
});

describe('the header of beta features', () => {
  const of = (asked: string, configured: readonly string[] = []) =>
    sent({
      headers: { 'anthropic-beta': asked },
      configured: { 'claude-sonnet-4-5': { 'anthropic-beta': configured } },
    }).headers['anthropic-beta'];

  test.each([
    'compact-2026-09-04, inline-tools-2026-09-15,mcp-client-2026-09-15',
    'thinking-display-updates-2026-08-18 ,  task-budgets-2026-03-13',
    'a-feature-of-tomorrow-2027-01-01',
  ])('is forwarded byte for byte where all of it is: %s', (asked) => expect(of(asked)).toBe(asked));

  test.each([
    ['advisor-tool-2026-03-01, files-api-2025-04-14', [], 'files-api-2025-04-14'],
    ['server-side-fallback-2026-07-01,fallback-credit-2026-07-01', [], undefined],
    ['user-profiles-billing-2026-10-01, message-threads-2026-08-12', [], undefined],
    ['pdfs-2024-09-25', ['output-300k-2026-03-24'], 'pdfs-2024-09-25,output-300k-2026-03-24'],
  ])('is without what costs more, and with what the operator adds: %s', (asked, configured, expected) =>
    expect(of(asked, configured)).toBe(expected),
  );
});

const addition = (definition: JsonObject) => ({ type: 'tool_addition', tool: { type: 'tool_definition', definition } });
const inSystem = (definition: JsonObject): JsonObject[] => [
  ...said,
  { role: 'system', content: [{ type: 'text', text: 'x' }, addition(definition)] },
];
const inSummary = (definition: JsonObject): JsonObject[] => [
  { role: 'assistant', content: [{ type: 'compaction', content: 'x', tool_changes: [addition(definition)] }] },
  ...said,
];
const places: readonly (readonly [string, (definition: JsonObject) => JsonObject[], string])[] = [
  ['a message', inSystem, 'messages[1].content[1].tool.definition'],
  ['a summary', inSummary, 'messages[0].content[0].tool_changes[0].tool.definition'],
];

describe.each(places)('a tool that is defined in %s', (_, holding, place) => {
  const bodyWith = (definition: JsonObject): JsonObject => ({
    model: 'm',
    max_tokens: 10,
    messages: holding(definition),
  });
  const offered = (definition: JsonObject): JsonObject => ({ ...bodyWith({}), messages: said, tools: [definition] });
  const search = { type: 'web_search_20260318', name: 'web_search' };

  test('is refused by its type where it has no price', () => {
    expect(messages.invalid(bodyWith({ type: 'seer_20270101', name: 'seer' }), null)).toMatchObject({
      param: `${place}.type`,
    });
    expect(messages.invalid(bodyWith({ name: 'f', input_schema: { type: 'object' } }), null)).toBeNull();
  });

  test('is refused where it asks another model', () => {
    const body = bodyWith({ type: 'advisor_20260301', name: 'advisor', model: 'claude-opus-5' });
    expect(() => sent({ body })).toThrow(place);
  });

  test('is refused where it names what the provider keeps', () => {
    const body = bodyWith({ type: 'code_execution_20260521', name: 'code_execution', container: 'c' });
    expect(keptUpstream(body)).toMatchObject({ param: `${place}.container` });
  });

  test('is reserved for as one of the request is, and sent with the bound that was reserved', () => {
    const calls = (body: JsonObject) => toolCallsOf([body], new Set(['m']), 1, new Set());
    expect(calls(bodyWith(search))).toEqual(calls(offered(search)));
    expect(calls(bodyWith(search))).not.toEqual({});
    const { body } = sent({ body: bodyWith(search) });
    expect(body.messages).toEqual(holding({ ...search, max_uses: 20 }));
    expect(sent({ body: bodyWith({ ...search, max_uses: 3 }) }).body.messages).toEqual(
      holding({ ...search, max_uses: 3 }),
    );
  });

  test('has the longest context reserved for what it may bring into the prompt', () => {
    const prompt = (body: JsonObject) =>
      messages.demand({ body, bytes: 500, model: 'm', names: new Set(['m']) } as never).prompt;
    const ofRequest = prompt(offered(search));
    expect(prompt(bodyWith(search))).toMatchObject({ brings: ofRequest.brings, max: ofRequest.max });
  });
});

describe('a member that would bring in what has no price', () => {
  const refused = (member: JsonObject) =>
    messages.invalid({ model: 'm', max_tokens: 1, messages: said, ...member }, null);

  test.each<[string, JsonObject]>([
    ['fallbacks', { fallbacks: [{ model: 'claude-opus-5' }] }],
    ['fallbacks', { fallbacks: 'default' }],
    ['fallback_credit_token', { fallback_credit_token: 'fct_1' }],
    ['fallback_credit_token', { fallback_credit_token: { token: 'fct_1', mode: 'best_effort' } }],
    ['billing_policy', { billing_policy: { type: 'billing_policy', bill_to: 'user_profile' } }],
  ])('is refused by its name, in words by which clients know to leave it out: %s', (param, member) =>
    expect(refused(member)).toMatchObject({
      param,
      message: expect.stringMatching(new RegExp(`^${param}: Extra inputs are not permitted`)),
    }),
  );

  test.each<[string, JsonObject]>([
    ['null', { fallbacks: null, fallback_credit_token: null, billing_policy: null, thread: null }],
    ['empty', { fallbacks: [] }],
    ['the usual bill', { billing_policy: { type: 'billing_policy', bill_to: 'self' } }],
  ])('is accepted where it requests nothing, and omitted: %s', (_, member) => {
    expect(refused(member)).toBeNull();
    expect(sent({ body: member }).body).not.toHaveProperty(Object.keys(member)[0] ?? '');
  });
});
