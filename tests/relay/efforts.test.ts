import { describe, expect, test } from 'vitest';
import type { CallerRequest } from '../../src/relay/contracts/protocol.js';
import { messages } from '../../src/relay/dialects/anthropic/endpoints/messages.js';
import { generateContent } from '../../src/relay/dialects/gemini/endpoints/generate-content.js';
import { isObject, type JsonObject } from '../../src/relay/json/json.js';
import { neutralOf } from '../../src/relay/protocols/neutral-of.js';
import { wordsOf } from '../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from './providers/golden.js';

/* The efforts above high, from each dialect to each wire. */

const turn = { role: 'user', content: 'What is a ledger?' };

const fromOpenAi = (model: string, effort: string): CallerRequest =>
  callerOf('chat', { model, messages: [turn], max_tokens: 40_000, reasoning_effort: effort });

function fromAnthropic(model: string, effort: string): CallerRequest {
  const body = { model, max_tokens: 40_000, messages: [turn], output_config: { effort } };
  return { ...callerOf('chat', body), dialect: messages.dialect, neutral: neutralOf(messages, body) };
}

function fromGemini(model: string, effort: string): CallerRequest {
  const contents = [{ role: 'user', parts: [{ text: turn.content }] }];
  const body = {
    model,
    contents,
    generationConfig: { maxOutputTokens: 40_000, thinkingConfig: { thinkingLevel: effort.toUpperCase() } },
  };
  return { ...callerOf('chat', body), dialect: generateContent.dialect, neutral: neutralOf(generateContent, body) };
}

function effortSent(type: number, model: string, caller: CallerRequest): unknown {
  const provider = providerOfType(type);
  const asked = { provider, channel: plainChannel, caller: { ...caller, maxOutput: 64_000 }, model };
  const body = JSON.parse(
    wordsOf(provider.protocol.request({ ...asked, options: usualOptions }).content),
  ) as JsonObject;
  const { reasoning_effort, output_config: output, thinking, generationConfig: config, enable_thinking } = body;
  const inGemini = isObject(config) && isObject(config.thinkingConfig) ? config.thinkingConfig : {};
  return (
    reasoning_effort ??
    (isObject(output) ? output.effort : undefined) ??
    (isObject(thinking) ? thinking.budget_tokens : undefined) ??
    inGemini.thinkingLevel ??
    inGemini.thinkingBudget ??
    enable_thinking
  );
}

const callers = { openai: fromOpenAi, anthropic: fromAnthropic, gemini: fromGemini };

/** What a model is sent for `xhigh` and for `max`. */
const models: readonly (readonly [type: number, model: string, xhigh: unknown, max: unknown])[] = [
  [1, 'gpt-5', 'high', 'high'],
  [1, 'gpt-5.5', 'xhigh', 'xhigh'],
  [1, 'gpt-6-sol', 'xhigh', 'max'],
  [43, 'deepseek-v4-pro', 'high', 'max'],
  [25, 'kimi-k3', 'high', 'max'],
  [25, 'kimi-k2.6', 'high', 'high'],
  [48, 'grok-4.5', 'high', 'high'],
  [20, 'moonshotai/kimi-k2.6', 'xhigh', 'max'],
  [14, 'claude-sonnet-4-5', 8_192, 16_384],
  [14, 'claude-opus-4-6', 'max', 'max'],
  [14, 'claude-opus-4-7', 'xhigh', 'max'],
  [14, 'claude-sonnet-5-5', 'xhigh', 'max'],
  [24, 'gemini-2.5-flash', 24_576, 24_576],
  [24, 'gemini-3-pro-preview', 'high', 'high'],
  [24, 'gemini-4-argon', 'xhigh', 'xhigh'],
];
const ownDialect: Readonly<Record<number, keyof typeof callers>> = {
  1: 'openai',
  43: 'openai',
  25: 'openai',
  48: 'openai',
  20: 'openai',
  14: 'anthropic',
  24: 'gemini',
};

describe.each(models)('of type %s, %s', (type, model, xhigh, max) => {
  test.each(
    (Object.keys(callers) as (keyof typeof callers)[])
      .filter((dialect) => dialect !== ownDialect[type])
      .map((dialect) => [dialect, callers[dialect]] as const),
  )('is sent the highest effort that it knows, for clients of the dialect %s', (dialect, caller) => {
    expect(effortSent(type, model, caller(model, 'xhigh'))).toBe(xhigh);
    // Google's levels end below it.
    if (dialect !== 'gemini') expect(effortSent(type, model, caller(model, 'max'))).toBe(max);
  });

  test('is sent the effort unchanged, for clients of its own dialect', () => {
    const dialect = ownDialect[type] ?? 'openai';
    const effort = dialect === 'gemini' ? 'XHIGH' : 'max';
    expect(effortSent(type, model, callers[dialect](model, effort))).toBe(effort);
  });
});

describe('an effort together with requested thinking', () => {
  const asking = (model: string, thinking: JsonObject, effort: string): CallerRequest =>
    callerOf('chat', { model, messages: [turn], max_tokens: 40_000, reasoning_effort: effort, thinking });
  const adaptive = { type: 'adaptive' };

  test.each([
    [24, 'gemini-2.5-flash', 'low', 1_024],
    [24, 'gemini-3-pro-preview', 'low', 'low'],
    [24, 'gemini-4-argon', 'xhigh', 'xhigh'],
    [14, 'claude-opus-4-6', 'low', 'low'],
    [14, 'claude-opus-4-7', 'xhigh', 'xhigh'],
    [14, 'claude-sonnet-5-5', 'max', 'max'],
  ])('adaptively, of type %s, %s, is sent: %s as %s', (type, model, effort, sent) => {
    expect(effortSent(type, model, asking(model, adaptive, effort))).toBe(sent);
  });

  test('in words of Anthropic’s clients is sent to Gemini', () => {
    const body = {
      model: 'm',
      max_tokens: 40_000,
      messages: [turn],
      thinking: adaptive,
      output_config: { effort: 'low' },
    };
    const caller = { ...callerOf('chat', body), dialect: messages.dialect, neutral: neutralOf(messages, body) };
    expect(effortSent(24, 'gemini-3-pro-preview', caller)).toBe('low');
  });

  test.each<[type: number, model: string, thinking: JsonObject, sent: unknown]>([
    [24, 'gemini-2.5-flash', { type: 'disabled' }, 0],
    [24, 'gemini-2.5-flash', { type: 'enabled', budget_tokens: 2_000 }, 2_000],
    [14, 'claude-sonnet-4-5', { type: 'enabled', budget_tokens: 2_000 }, 2_000],
    [14, 'claude-opus-4-7', { type: 'disabled' }, undefined],
  ])('does not change a budget, or that there is to be none: of type %s, %s, %j', (type, model, thinking, sent) => {
    expect(effortSent(type, model, asking(model, thinking, 'high'))).toBe(sent);
  });

  test.each(['none', 'minimal'])('does not decline it: %s', (effort) => {
    expect(effortSent(24, 'gemini-2.5-flash', asking('gemini-2.5-flash', adaptive, effort))).toBeUndefined();
  });
});
