import { describe, expect, test } from 'vitest';
import type { ChannelView } from '../../src/application/ports/storage-ports.js';
import type { Endpoint } from '../../src/relay/contracts/endpoint.js';
import { providerTools } from '../../src/relay/contracts/neutral.js';
import { messages } from '../../src/relay/dialects/anthropic/endpoints/messages.js';
import { generateContent } from '../../src/relay/dialects/gemini/endpoints/generate-content.js';
import { chat } from '../../src/relay/dialects/openai/endpoints/chat.js';
import type { JsonObject } from '../../src/relay/json/json.js';
import { channelParser } from '../../src/relay/pipeline/channels/channel-settings.js';
import { overridesOf, switchedTools, withOverrides } from '../../src/relay/pipeline/own-tools.js';
import { providerOf } from '../../src/relay/providers/registry.js';

/* Tools that a provider runs by itself, as far as they really go upstream. */

const ports = { providerOf, parsedChannel: channelParser() };
let ids = 0;
const channel = (type: number, settings: Record<string, unknown> = {}): ChannelView =>
  ({ id: ++ids, settings: { type, modelMapping: '', ...settings } }) as unknown as ChannelView;

describe('functions whose names enable tools of a provider', () => {
  const switched = (endpoint: typeof chat, model: string, ...channels: ChannelView[]) =>
    switchedTools(ports, endpoint, model, channels);

  test('are an OpenAI client’s own, where a channel is Google’s', () => {
    expect(switched(chat, 'gemini-3-pro', channel(1), channel(24))).toEqual(providerTools);
    expect(switched(chat, 'gemini-3-pro', channel(41))).toEqual(providerTools);
  });

  test('enable nothing in another dialect, nor where no channel is Google’s', () => {
    expect(switched(messages, 'gemini-3-pro', channel(24)).size).toBe(0);
    expect(switched(generateContent, 'gemini-3-pro', channel(24)).size).toBe(0);
    expect(switched(chat, 'gemini-3-pro', channel(1), channel(14), channel(33)).size).toBe(0);
  });

  test('depend on the name that a channel maps the model to', () => {
    const mapped = (to: string) => channel(41, { modelMapping: JSON.stringify({ mine: to }) });
    expect(switched(chat, 'mine', mapped('claude-sonnet-5')).size).toBe(0);
    expect(switched(chat, 'mine', mapped('gemini-3-pro'))).toEqual(providerTools);
  });
});

describe('the parameters that an operator adds', () => {
  const prompt = {
    expected: 10,
    conservative: { input: 20 },
    max: { input: 30 },
    uncounted: false,
    brings: false,
  };
  const sentAlong = (override: JsonObject, answers = 1) =>
    withOverrides(
      { prompt, answers },
      overridesOf([channel(24, { paramOverride: JSON.stringify(override) }), channel(24)], ports),
    );

  test('count the prompt that their tools bring', () => {
    const tools = [{ urlContext: {} }, { functionDeclarations: [{ name: 'f' }] }];
    const { prompt: added } = sentAlong({ tools });
    expect(added.max.input).toBeGreaterThan(1_048_576);
    expect(added).toMatchObject({ expected: 10, conservative: { input: 20 + 16_384 }, uncounted: true, brings: true });
  });

  test('count it for named own tools, as Anthropic has them, and not for functions', () => {
    const named = (type: string | undefined) => sentAlong({ tools: [{ ...(type && { type }), name: 'f' }] }).prompt;
    expect(named('web_fetch_20250910')).toMatchObject({ conservative: { input: 20 + 16_384 }, brings: true });
    for (const type of ['function', 'custom', undefined]) expect(named(type)).toMatchObject({ brings: false });
  });

  test('count it for members that enable a search, and for a provider’s own functions', () => {
    const brought = { conservative: { input: 20 + 16_384 }, uncounted: true, brings: true };
    expect(sentAlong({ enable_search: true }).prompt).toMatchObject(brought);
    const tools = [{ type: 'builtin_function', function: { name: '$web_search' } }];
    expect(sentAlong({ tools }).prompt).toMatchObject(brought);
    expect(sentAlong({ enable_search: false }).prompt).toMatchObject({ brings: false });
  });

  test('allow cache writes with a lifetime of an hour where they request it', () => {
    expect(sentAlong({ prompt_cache_options: { ttl: '12h' } }).prompt.max).toHaveProperty('cacheWriteHour');
    expect(sentAlong({ prompt_cache_options: { ttl: '30m' } }).prompt.max).not.toHaveProperty('cacheWriteHour');
  });

  test('count their own text', () =>
    expect(sentAlong({ system: 'x'.repeat(1_000) }).prompt.max.input).toBeGreaterThan(1_000));

  test('add to the number of answers, in any protocol, and never reduce it', () => {
    expect(sentAlong({ n: 4 }).answers).toBe(4);
    expect(sentAlong({ generationConfig: { candidateCount: 3 } }).answers).toBe(3);
    expect(sentAlong({ n: 1 }, 2).answers).toBe(2);
  });

  test('add nothing to the number of pictures, which is sent as it was ordered', () => {
    const overrides = overridesOf([channel(1, { paramOverride: '{"n":4}' })], ports);
    expect(withOverrides({ prompt, answers: 1, pictureTokens: 100 }, overrides).answers).toBe(1);
  });

  test('add nothing to a call without output tokens', () => expect(sentAlong({ n: 4 }, 0)).toMatchObject({ prompt }));
});

describe('context from outside the request is reserved for at its maximum, and reported usage is believed up to that', () => {
  const question = { messages: [{ role: 'user', content: 'x' }] };
  const promptOf = (endpoint: Endpoint, body: JsonObject) =>
    endpoint.demand({ body, bytes: 1_000, model: 'm', names: new Set(['m']), upload: null }).prompt;
  const container = 'container_011CPR5CNjB747bTd36fQLFk';
  const contents = [{ parts: [{ text: 'x' }] }];

  test.each<[string, Endpoint, JsonObject, JsonObject]>([
    ['a tool that searches, in OpenAI’s dialect', chat, question, { tools: [{ type: 'web_search' }] }],
    ['a container that runs code, in OpenAI’s dialect', chat, question, { tools: [{ type: 'code_interpreter' }] }],
    ['Google’s tools by their members, in OpenAI’s dialect', chat, question, { tools: [{ google_maps: {} }] }],
    ['a member that enables a search', chat, question, { web_search_options: {} }],
    ['such a member inside another', chat, question, { extra_body: { enable_search: true } }],
    ['data that Azure looks up', chat, question, { data_sources: [{ type: 'azure_search' }] }],
    ['a container of an earlier answer, in OpenAI’s dialect', chat, question, { container }],
    ['a container of an earlier answer', messages, question, { container }],
    ['code execution at Anthropic', messages, question, { tools: [{ type: 'code_execution_20260521', name: 'c' }] }],
    ['Google’s maps', generateContent, { contents }, { tools: [{ googleMaps: {} }] }],
    ['an answer that Google continues', generateContent, { contents }, { continuationToken: 't' }],
    ['the same in the other spelling', generateContent, { contents }, { continuation_token: 't' }],
  ])('%s', (_what, endpoint, plain, more) => {
    const before = promptOf(endpoint, plain);
    const after = promptOf(endpoint, { ...plain, ...more });
    expect(before.brings).toBe(false);
    expect(after.brings).toBe(true);
    expect(after.max.input ?? 0).toBeGreaterThanOrEqual(1_048_576);
  });
});
