import { describe, expect, test } from 'vitest';
import { completionRule } from '../../../../src/domain/pricing/built-in/completion-rules.js';

const locked = (ratio: string) => ({ ratio, locked: true });
const open = (ratio: string) => ({ ratio, locked: false });

/* One row per rule, and names beside its edge. */

describe('the output price of a family with a fixed price relation', () => {
  test.each([
    ['gpt-4o-2024-05-13', '3'],
    ['gpt-4o', '4'],
    ['gpt-4o-2024-11-20', '4'],
    ['gpt-4o-mini', '4'],
    ['gpt-4o-2024-05-13-x', '4'],
    ['gpt-4.5-preview', '2'],
    ['gpt-4.5-preview-2025-02-27', '2'],
    ['gpt-4-turbo', '3'],
    ['gpt-4-turbo-2024-04-09', '3'],
    ['gpt-4-1106', '3'],
    ['gpt-4-1105', '3'],
    ['o1', '4'],
    ['o1-mini', '4'],
    ['o3', '4'],
    ['o3-mini-high', '4'],
    ['chatgpt-4o-latest', '3'],
    ['gpt-5', '8'],
    ['gpt-5-mini', '8'],
    ['claude-sonnet-4-20250514', '5'],
    ['claude-opus-4-1-20250805', '5'],
    ['claude-haiku-4-5-20251001', '5'],
    ['anthropic.claude-sonnet-4-20250514-v1:0', '5'],
    ['claude-instant-1', '3'],
    ['claude-instant-1.2', '3'],
    ['claude-2', '3'],
    ['claude-2.1', '3'],
    ['claude-3-haiku-20240307', '5'],
    ['anthropic.claude-3-5-sonnet-20241022-v2:0', '5'],
    ['gpt-3.5-turbo', '3'],
    ['gpt-3.5-turbo-0125', '3'],
    ['gpt-3.5-turbo-1106', '2'],
    ['gpt-3.5-turbo-16k', '1.3333333333333333'],
    ['gpt-3.5-turbo-instruct', '1.3333333333333333'],
    ['mistral-large-latest', '3'],
    ['gemini-1.5-pro-latest', '4'],
    ['gemini-2.0-flash', '4'],
    ['gemini-2.5-pro-preview-03-25', '8'],
    ['command-r', '3'],
    ['command-r-plus', '5'],
    ['command-r-08-2024', '4'],
    ['command-r-plus-08-2024', '4'],
    ['deepseek-chat', '4'],
    ['DeepSeek-Chat', '4'],
    ['deepseek-reasoner', '4'],
    ['DEEPSEEK-REASONER', '4'],
    ['ERNIE-Speed-8K', '2'],
    ['ERNIE-Lite-8K-0922', '2'],
    ['ERNIE-Character-8K', '2'],
    ['ERNIE-Functions-8K', '2'],
    ['llama2-70b-4096', '1.25'],
    ['llama3-8b-8192', '2'],
    ['llama3-70b-8192', '1.338983050847'],
  ])('is for %s %s times its input', (model, ratio) => expect(completionRule(model)).toStrictEqual(locked(ratio)));
});

describe('the output price of a family with a default relation', () => {
  test.each([
    ['gpt-4', '2'],
    ['gpt-4-32k', '2'],
    ['gpt-4-0613', '2'],
    ['gpt-4-1106-preview', '2'],
    ['gpt-4.1', '4'],
    ['gpt-4.1-mini-2025-04-14', '4'],
    ['gemini-2.5-pro', '8'],
    ['gemini-2.5-pro-exp-03-25', '8'],
    ['gemini-2.5-flash-preview-04-17', '23.333333333333'],
    ['gemini-2.5-flash-preview-04-17-nothinking', '4'],
    ['gemini-2.5-flash-lite', '4'],
    ['gemini-2.5-flash', '8.333333333333'],
    ['gemini-3-pro', '4'],
    ['gemini-exp-1206', '4'],
    ['command', '4'],
    ['command-nightly', '4'],
    ['command-a-03-2025', '4'],
    ['gpt-image-1', '8'],
  ])('is for %s %s times its input', (model, ratio) => expect(completionRule(model)).toStrictEqual(open(ratio)));
});

describe('the output price without a rule equals the input price unless an operator sets it', () => {
  test.each([
    'my-own-model',
    'gpt-4-all',
    'gpt-4o-all',
    'gpt-4.5-preview-all',
    'gpt-4-gizmo-*',
    'gpt-4o-gizmo-*',
    'gpt-5.1',
    'x-gpt-4o',
    'x-mistral-large',
    'Mistral-large',
    'ernie-speed-8k',
    'ERNIE-4.0-8K',
    'deepseek-coder',
    'deepseek-chat-2',
    'llama3-8b',
    'grok-3-beta',
    'text-embedding-3-small',
  ])('for %s', (model) => expect(completionRule(model)).toBeNull());
});
