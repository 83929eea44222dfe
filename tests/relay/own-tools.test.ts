import { describe, expect, test } from 'vitest';
import type { ChannelView } from '../../src/application/ports/storage-ports.js';
import { providerTools } from '../../src/relay/contracts/neutral.js';
import { messages } from '../../src/relay/dialects/anthropic/endpoints/messages.js';
import { generateContent } from '../../src/relay/dialects/gemini/endpoints/generate-content.js';
import { chat } from '../../src/relay/dialects/openai/endpoints/chat.js';
import type { JsonObject } from '../../src/relay/json/json.js';
import { channelParser } from '../../src/relay/pipeline/channel-settings.js';
import { overridesOf, switchedTools, withOverrides } from '../../src/relay/pipeline/own-tools.js';
import { providerOf } from '../../src/relay/providers/registry.js';

/* Tools that a provider runs by itself, as far as they really go upstream. */

const ports = { providerOf, parsedChannel: channelParser() };
let ids = 0;
const channel = (type: number, settings: Record<string, unknown> = {}): ChannelView =>
  ({ id: ++ids, settings: { type, modelMapping: '', ...settings } }) as unknown as ChannelView;

describe('functions whose names switch on tools of a provider', () => {
  const switched = (endpoint: typeof chat, model: string, ...channels: ChannelView[]) =>
    switchedTools(ports, endpoint, model, channels);

  test('are an OpenAI client’s, where a channel is Google’s', () => {
    expect(switched(chat, 'gemini-3-pro', channel(1), channel(24))).toEqual(providerTools);
    expect(switched(chat, 'gemini-3-pro', channel(41))).toEqual(providerTools);
  });

  test('switch on nothing in another dialect, nor where no channel is Google’s', () => {
    expect(switched(messages, 'gemini-3-pro', channel(24)).size).toBe(0);
    expect(switched(generateContent, 'gemini-3-pro', channel(24)).size).toBe(0);
    expect(switched(chat, 'gemini-3-pro', channel(1), channel(14), channel(33)).size).toBe(0);
  });

  test('go by the name a channel maps the model to', () => {
    const mapped = (to: string) => channel(41, { modelMapping: JSON.stringify({ mine: to }) });
    expect(switched(chat, 'mine', mapped('claude-sonnet-5')).size).toBe(0);
    expect(switched(chat, 'mine', mapped('gemini-3-pro'))).toEqual(providerTools);
  });
});

describe('what an operator sends along', () => {
  const prompt = {
    expected: 10,
    conservative: { input: 20 },
    most: { input: 30 },
    uncounted: false,
    brings: false,
  };
  const sentAlong = (override: JsonObject, answers = 1) =>
    withOverrides(
      { prompt, answers },
      overridesOf([channel(24, { paramOverride: JSON.stringify(override) }), channel(24)], ports),
    );

  test('adds the prompt that its tools bring', () => {
    const tools = [{ urlContext: {} }, { functionDeclarations: [{ name: 'f' }] }];
    const { prompt: added } = sentAlong({ tools });
    expect(added.most.input).toBeGreaterThan(1_048_576);
    expect(added).toMatchObject({ expected: 10, conservative: { input: 20 + 16_384 }, uncounted: true, brings: true });
  });

  test('adds it for own tools with names, as Anthropic has them, and not for functions', () => {
    const named = (type: string | undefined) => sentAlong({ tools: [{ ...(type && { type }), name: 'f' }] }).prompt;
    expect(named('web_fetch_20250910')).toMatchObject({ conservative: { input: 20 + 16_384 }, brings: true });
    for (const type of ['function', 'custom', undefined]) expect(named(type)).toMatchObject({ brings: false });
  });

  test('adds its own words', () =>
    expect(sentAlong({ system: 'x'.repeat(1_000) }).prompt.most.input).toBeGreaterThan(1_000));

  test('adds the choices it asks for, in the words of any wire, and takes none away', () => {
    expect(sentAlong({ n: 4 }).answers).toBe(4);
    expect(sentAlong({ generationConfig: { candidateCount: 3 } }).answers).toBe(3);
    expect(sentAlong({ n: 1 }, 2).answers).toBe(2);
  });

  test('adds nothing to a call that puts out no tokens', () =>
    expect(sentAlong({ n: 4 }, 0)).toMatchObject({ prompt }));
});
