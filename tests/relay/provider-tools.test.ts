import { describe, expect, test } from 'vitest';
import { messages } from '../../src/relay/dialects/anthropic/endpoints/messages.js';
import { generateContent } from '../../src/relay/dialects/gemini/endpoints/generate-content.js';
import { chat } from '../../src/relay/dialects/openai/endpoints/chat.js';
import { completions } from '../../src/relay/dialects/openai/endpoints/completions.js';
import type { JsonObject } from '../../src/relay/json/json.js';

/* Tools that providers run by themselves: those in the list have a price, and every other is refused by its name. */

const asked = { model: 'm', messages: [{ role: 'user', content: 'x' }] };
const openAi = (body: JsonObject) => chat.invalid({ ...asked, ...body }, null);
const anthropic = (tool: JsonObject) => messages.invalid({ ...asked, max_tokens: 10, tools: [tool] }, null);
const gemini = (tool: JsonObject) =>
  generateContent.invalid({ contents: [{ parts: [{ text: 'x' }] }], tools: [tool] }, null);

describe('a tool in OpenAI’s dialect', () => {
  test.each<[JsonObject, string]>([
    ...['file_search', 'computer', 'computer_use_preview', 'image_generation', 'mcp', 'local_shell', 'shell'].map(
      (type) => [{ type }, 'tools[0].type'] as [JsonObject, string],
    ),
    ...['apply_patch', 'tool_search', 'retrieval', 'code_execution_20250825', 'Web_Search', 'web_searching'].map(
      (type) => [{ type, function: { name: 'f' } }, 'tools[0].type'] as [JsonObject, string],
    ),
    [{ type: 7 }, 'tools[0].type'],
    [{ type: 'builtin_function', function: { name: '$code' } }, 'tools[0].function.name'],
    [{ exaAiSearch: {} }, 'tools[0].exaAiSearch'],
    [{ enterprise_web_search: {} }, 'tools[0].enterprise_web_search'],
    [{ something_new: {} }, 'tools[0].something_new'],
    [{ type: 'function', function: { name: 'f' }, fileSearch: {} }, 'tools[0].fileSearch'],
  ])('that is not in the list is refused by name: %j', (tool, param) => {
    const wrong = { param, message: expect.stringContaining('tools[0]') };
    expect(openAi({ tools: [tool] })).toMatchObject(wrong);
    expect(completions.invalid({ model: 'm', prompt: 'x', tools: [tool] }, null)).toMatchObject({ param });
    expect(openAi({ extra_body: { google: { tools: [tool] } } })).toMatchObject({
      param: `extra_body.google.${param}`,
    });
  });

  test.each<JsonObject>([
    { type: 'function', function: { name: 'f', parameters: {} } },
    { type: 'function', name: 'f', parameters: {} },
    { function: { name: 'f' } },
    { name: 'f', parameters: {} },
    { type: 'custom', custom: { name: 'f' } },
    { type: 'web_search' },
    { type: 'web_search_preview_2025_03_11' },
    { type: 'web_search_20250305', name: 'web_search', max_uses: 2 },
    { type: 'code_interpreter', container: { type: 'auto' } },
    { type: 'builtin_function', function: { name: '$web_search' } },
    { googleSearch: {} },
    { google_maps: {}, cache_control: { type: 'ephemeral' } },
    { url_context: {} },
  ])('that is a function of the caller’s, or in the list, is accepted: %j', (tool) =>
    expect(openAi({ tools: [tool] })).toBeNull(),
  );

  test('that is a plugin of OpenRouter’s is refused by its id, except for the free one', () => {
    expect(openAi({ plugins: [{ id: 'response-healing' }, { id: 'web' }] })).toMatchObject({ param: 'plugins[1].id' });
    expect(openAi({ plugins: ['web'] })).toMatchObject({ param: 'plugins[0].id' });
    expect(openAi({ plugins: { id: 'web' } })).toMatchObject({ param: 'plugins' });
    expect(openAi({ plugins: [{ id: 'response-healing' }] })).toBeNull();
    expect(openAi({ plugins: null })).toBeNull();
  });
});

describe('a tool in Anthropic’s dialect', () => {
  test.each(['web_searching', 'Web_Search_20250305', 'code_interpreter', 'function', 'somethingnew_20270101', 7])(
    'that is not in the list is refused by its type: %j',
    (type) => expect(anthropic({ type, name: 'x' })).toMatchObject({ param: 'tools[0].type' }),
  );

  test.each([
    ...[undefined, null, 'custom', 'web_search_20250305', 'web_search_20260318', 'web_fetch_20250910'],
    ...['code_execution_20260521', 'bash_20250124', 'text_editor_20250728', 'computer_20251124', 'memory_20250818'],
    ...['computer_toolset_20260801', 'browser_20260801', 'browser_toolset_20260801', 'mcp_toolset'],
    ...['tool_search_tool_regex_20251119', 'tool_search_tool_bm25'],
  ])('that is in the list is accepted: %j', (type) =>
    expect(anthropic({ ...(type !== undefined && { type }), name: 'x' })).toBeNull(),
  );
});

describe('a tool in Gemini’s dialect', () => {
  const camel = ['enterpriseWebSearch', 'exaAiSearch', 'parallelAiSearch', 'fileSearch', 'retrieval', 'mcpServers'];
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

  test.each([...camel, ...camel.map(snake), 'somethingNew', 'googlemaps', 'GoogleMaps'])(
    'that is not in the list is refused by name: %s',
    (name) => expect(gemini({ [name]: {} })).toMatchObject({ param: `tools[0].${name}` }),
  );

  const priced = ['googleSearch', 'googleSearchRetrieval', 'googleMaps', 'urlContext', 'codeExecution', 'computerUse'];
  test.each([...priced, ...priced.map(snake)])('that is in the list is accepted: %s', (name) =>
    expect(gemini({ [name]: {} })).toBeNull(),
  );
});
