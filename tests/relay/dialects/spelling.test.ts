import { describe, expect, test } from 'vitest';
import { anthropicCaller } from '../../../src/relay/dialects/anthropic/dialect.js';
import { geminiCaller } from '../../../src/relay/dialects/gemini/dialect.js';
import { openAiCaller } from '../../../src/relay/dialects/openai/dialect.js';
import type { JsonObject } from '../../../src/relay/json/json.js';

/* Members that a lenient receiver reads and the gateway does not, in each dialect. */

const callers = { openai: openAiCaller, anthropic: anthropicCaller, gemini: geminiCaller };
type Dialect = keyof typeof callers;

describe('a misspelled member that is refused by name', () => {
  test.each<[Dialect, JsonObject, string]>([
    ['openai', { max_tokens: 1, Max_Tokens: 60_000 }, 'Max_Tokens'],
    ['openai', { N: 100 }, 'N'],
    // Go's decoder takes the long s and the sign of Kelvin for s and k.
    ['openai', { 'max_toKen\u017f': 60_000 }, 'max_toKen\u017f'],
    ['openai', { messages: [{ role: 'user', content: 'x', Content: 'y' }] }, 'messages[0].Content'],
    ['openai', { messages: [{ content: [{ type: 'text', Text: 'y' }] }] }, 'messages[0].content[0].Text'],
    ['openai', { messages: [{ content: [{ Image_URL: { url: 'y' } }] }] }, 'messages[0].content[0].Image_URL'],
    ['openai', { tools: [{ type: 'function', Function: { name: 'googleSearch' } }] }, 'tools[0].Function'],
    ['openai', { Service_Tier: 'priority' }, 'Service_Tier'],
    ['openai', { FALLBACKS: ['dear'] }, 'FALLBACKS'],
    ['anthropic', { Max_tokens: 60_000 }, 'Max_tokens'],
    ['anthropic', { tools: [{ Type: 'web_search_20250305' }] }, 'tools[0].Type'],
    ['anthropic', { tools: [{ type: 'web_search_20250305', MAX_USES: 9 }] }, 'tools[0].MAX_USES'],
    ['anthropic', { System: 'x' }, 'System'],
    ['anthropic', { thinking: { Budget_Tokens: 9 } }, 'thinking.Budget_Tokens'],
    ['gemini', { generationConfig: {}, generation_config: {} }, 'generation_config'],
    [
      'gemini',
      { generationConfig: { maxOutputTokens: 5, max_output_tokens: 60_000 } },
      'generationConfig.max_output_tokens',
    ],
    ['gemini', { generation_config: { MaxOutputTokens: 5 } }, 'generation_config.MaxOutputTokens'],
    ['gemini', { generationConfig: { max_OutputTokens: 5 } }, 'generationConfig.max_OutputTokens'],
    ['gemini', { systemInstruction: null, system_instruction: { parts: [] } }, 'system_instruction'],
    ['gemini', { contents: [{ parts: [{ inlineData: {}, inline_data: {} }] }] }, 'contents[0].parts[0].inline_data'],
    ['gemini', { Tools: [] }, 'Tools'],
    ['gemini', { tools: [{ functionDeclarations: [], function_declarations: [] }] }, 'tools[0].function_declarations'],
    ['gemini', { generateContentRequest: { Contents: [] } }, 'generateContentRequest.Contents'],
  ])('%s: %j', (dialect, body, param) => {
    expect(callers[dialect].misspelled(body)).toMatchObject({ param, message: expect.stringContaining(param) });
  });
});

describe('a member that is passed on unchanged', () => {
  const schema = { type: 'object', properties: { N: {}, Content: {}, Text: {}, max_tokens: {}, Max_Tokens: {} } };
  test.each<[string, Dialect, JsonObject]>([
    ['a caller’s own name in a schema', 'openai', { tools: [{ type: 'function', function: { parameters: schema } }] }],
    ['a caller’s own name in a schema', 'anthropic', { tools: [{ name: 'x', input_schema: schema }] }],
    ['a caller’s own name in a schema', 'gemini', { tools: [{ functionDeclarations: [{ parameters: schema }] }] }],
    [
      'a name in the input of a tool call',
      'anthropic',
      { messages: [{ content: [{ type: 'tool_use', input: schema }] }] },
    ],
    [
      'a name in the arguments of a tool call',
      'gemini',
      { contents: [{ parts: [{ functionCall: { args: schema } }] }] },
    ],
    ['a name in a tool result', 'gemini', { contents: [{ parts: [{ functionResponse: { response: schema } }] }] }],
    ['a name in metadata and biases', 'openai', { metadata: { N: '1' }, logit_bias: { '50256': -100 } }],
    ['an unknown member', 'openai', { Whatever: 1, extra_body: { N: 1 } }],
    ['either of Google’s spellings', 'gemini', { generation_config: { max_output_tokens: 5, topP: 1 } }],
    [
      'one spelling in one object and the other in the next',
      'gemini',
      { requests: [{ task_type: 'X' }, { taskType: 'X' }] },
    ],
  ])('%s (%s)', (_what, dialect, body) => expect(callers[dialect].misspelled(body)).toBeNull());
});
