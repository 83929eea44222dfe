import { describe, expect, test } from 'vitest';
import type { CallerRequest } from '../../src/relay/contracts/protocol.js';
import { anthropicCaller } from '../../src/relay/dialects/anthropic/dialect.js';
import { messages } from '../../src/relay/dialects/anthropic/endpoints/messages.js';
import { geminiCaller } from '../../src/relay/dialects/gemini/dialect.js';
import { generateContent } from '../../src/relay/dialects/gemini/endpoints/generate-content.js';
import { isObject, type JsonObject } from '../../src/relay/json/json.js';
import { neutralOf } from '../../src/relay/protocols/neutral-of.js';
import { wordsOf } from '../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from './providers/golden.js';

/* Who asks for no thinking, in the words of one dialect, gets the least that a model of another wire accepts. */

const question = 'What is a ledger?';
const turn = { role: 'user', content: question };

const openAi =
  (effort: string) =>
  (model: string): CallerRequest =>
    callerOf('chat', { model, messages: [turn], max_tokens: 9_000, reasoning_effort: effort });

const anthropic =
  (rest: JsonObject) =>
  (model: string): CallerRequest => {
    const body = { model, max_tokens: 9_000, messages: [turn], ...rest };
    return { ...callerOf('chat', body), dialect: anthropicCaller, neutral: neutralOf(messages, body) };
  };

const gemini =
  (thinkingConfig: JsonObject) =>
  (model: string): CallerRequest => {
    const contents = [{ role: 'user', parts: [{ text: question }] }];
    const body = { model, contents, generationConfig: { maxOutputTokens: 9_000, thinkingConfig } };
    return { ...callerOf('chat', body), dialect: geminiCaller, neutral: neutralOf(generateContent, body) };
  };

/** By the wire that each of them speaks. */
const declining: Readonly<Record<string, readonly ((model: string) => CallerRequest)[]>> = {
  openai: [openAi('none'), openAi('minimal')],
  anthropic: [
    anthropic({ thinking: { type: 'disabled' } }),
    anthropic({ thinking: { type: 'disabled' }, output_config: { effort: 'high' } }),
  ],
  gemini: [gemini({ thinkingBudget: 0 }), gemini({ thinkingLevel: 'MINIMAL' })],
};

/** Every member that says something of thinking. */
function saidOf(type: number, model: string, caller: CallerRequest): JsonObject {
  const provider = providerOfType(type);
  const { content } = provider.protocol.request({
    provider,
    channel: plainChannel,
    caller,
    model,
    options: usualOptions,
  });
  const body = JSON.parse(wordsOf(content)) as JsonObject;
  const config = isObject(body.generationConfig) ? body.generationConfig : {};
  const said = { ...body, thinkingConfig: config.thinkingConfig };
  const names = ['reasoning_effort', 'reasoning', 'thinking', 'enable_thinking', 'thinkingConfig', 'output_config'];
  return Object.fromEntries(
    Object.entries(said).filter(([name, value]) => names.includes(name) && value !== undefined),
  );
}

const off = { thinking: { type: 'disabled' } };
const effort = (reasoning_effort: string) => ({ reasoning_effort });
const budget = (thinkingBudget: number) => ({ thinkingConfig: { thinkingBudget } });

const models: readonly (readonly [wire: string, type: number, model: string, said: JsonObject])[] = [
  ['openai', 1, 'gpt-5.1', effort('none')],
  ['openai', 1, 'gpt-5.4-mini', effort('none')],
  ['openai', 1, 'gpt-6-sol', effort('none')],
  ['openai', 1, 'gpt-6.1-terra', effort('none')],
  ['openai', 1, 'gpt-5', effort('minimal')],
  ['openai', 1, 'gpt-5-mini-2025-08-07', effort('minimal')],
  ['openai', 1, 'gpt-5-nano', effort('minimal')],
  ['openai', 1, 'gpt-5-codex', effort('low')],
  ['openai', 1, 'gpt-5.1-codex-mini', effort('low')],
  ['openai', 1, 'o1', effort('low')],
  ['openai', 1, 'o3-mini', effort('low')],
  ['openai', 1, 'o4-mini', effort('low')],
  ['openai', 1, 'o1-mini', {}],
  ['openai', 1, 'gpt-5-pro', {}],
  ['openai', 1, 'gpt-5.3-chat-latest', {}],
  ['openai', 1, 'gpt-5-chat-latest', {}],
  ['openai', 1, 'gpt-4o', {}],
  ['openai', 1, 'some-model', {}],
  ['openai', 43, 'deepseek-chat', off],
  ['openai', 17, 'qwen3-32b', { enable_thinking: false }],
  ['openai', 40, 'Qwen/Qwen3-32B', { enable_thinking: false }],
  ['openai', 40, 'Qwen/Qwen2.5-7B-Instruct', {}],
  ['openai', 48, 'grok-3-mini', effort('low')],
  ['openai', 48, 'grok-4', {}],
  ['openai', 20, 'openai/gpt-5.4-mini', effort('none')],
  ['openai', 20, 'google/gemini-2.5-pro', {}],
  ['anthropic', 14, 'claude-sonnet-4-5', off],
  ['anthropic', 14, 'claude-opus-4-6', off],
  ['anthropic', 14, 'claude-opus-5', off],
  ['anthropic', 14, 'claude-3-haiku-20240307', {}],
  ['anthropic', 14, 'claude-fable-5-1', { output_config: { effort: 'low' } }],
  ['gemini', 24, 'gemini-2.5-flash', budget(0)],
  ['gemini', 24, 'gemini-2.5-flash-lite', budget(0)],
  ['gemini', 24, 'gemini-2.5-pro', budget(128)],
  ['gemini', 24, 'gemini-3-flash-preview', { thinkingConfig: { thinkingLevel: 'minimal' } }],
  ['gemini', 24, 'gemini-3-pro-preview', { thinkingConfig: { includeThoughts: true, thinkingLevel: 'low' } }],
  ['gemini', 24, 'gemini-2.0-flash', {}],
  ['gemini', 24, 'gemini-2.5-flash-image', {}],
];

describe('a request to switch thinking off', () => {
  test.each(models)(
    'in another protocol than %s (type %i) is the lowest setting that %s accepts',
    (wire, type, model, said) => {
      for (const [dialect, callers] of Object.entries(declining))
        if (dialect !== wire)
          for (const caller of callers) expect(saidOf(type, model, caller(model)), dialect).toEqual(said);
    },
  );

  test('is passed on unchanged where the caller speaks the protocol', () => {
    expect(saidOf(1, 'o3-mini', openAi('minimal')('o3-mini'))).toEqual(effort('minimal'));
    const own = anthropic(off)('claude-fable-5-1');
    expect(saidOf(14, 'claude-fable-5-1', own)).toEqual(off);
  });
});

test.each([
  ['gpt-5.4', 'xhigh'],
  ['gpt-5.1-codex-max', 'xhigh'],
  ['gpt-5.1', 'high'],
  ['gpt-5-mini', 'high'],
  ['o3', 'high'],
])('the maximum thinking that a Gemini caller requests is the maximum of %s: %s', (model, sent) =>
  expect(saidOf(1, model, gemini({ thinkingLevel: 'XHIGH' })(model))).toEqual(effort(sent)),
);
