import { describe, expect, test } from 'vitest';
import { requestsAsMeant } from '../../../fuzz/dialects/requests-as-meant.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { keptUpstream } from '../../../src/relay/pipeline/kept/kept-upstream.js';

/*
 * Callers share the account of a channel. What a provider keeps there is named by an id, and an id may be another
 * caller's: LiteLLM gave answers to whoever knew their ids.
 */

const said = (content: unknown, role = 'user') => ({ messages: [{ role, content }] });
const part = (one: unknown) => said([{ type: 'text', text: 'x' }, one]);
const tool = (one: unknown) => ({ ...said('x'), tools: [one] });
const inPart = 'messages[0].content[1]';

const named: readonly (readonly [what: string, body: unknown, param: string])[] = [
  ...[
    'previous_response_id',
    'conversation',
    'conversation_id',
    'thread_id',
    'assistant_id',
    'container',
    'chatId',
  ].map((name) => [`OpenAI: ${name}`, { ...said('x'), [name]: 'abc' }, name] as const),
  ['OpenAI: a conversation as an object', { ...said('x'), conversation: { id: 'conv_1' } }, 'conversation'],
  ['OpenAI: in another case', { ...said('x'), Previous_Response_ID: 'resp_1' }, 'Previous_Response_ID'],
  ['OpenAI: stores of an assistant', { ...said('x'), tool_resources: { file_search: {} } }, 'tool_resources'],
  ['OpenAI: a file', part({ type: 'file', file: { file_id: 'file-1' } }), `${inPart}.file.file_id`],
  ['OpenAI: a file in one part', said({ type: 'file', file: { file_id: 'f' } }), 'messages[0].content.file.file_id'],
  ['OpenAI: a part of no kind', part({ file: { file_id: 'file-1' } }), `${inPart}.file.file_id`],
  ['OpenAI: an answer in sound', { messages: [{ role: 'assistant', audio: { id: 'a' } }] }, 'messages[0].audio.id'],
  [
    'OpenAI: an answer in sound whose id cannot be guessed',
    { messages: [{ role: 'assistant', audio: { id: 'audio_67f1c0d2a3b48190a0b1c2d3e4f5a6b7' } }] },
    'messages[0].audio.id',
  ],
  [
    'OpenAI: a tunnel into the network of the account',
    tool({ type: 'mcp', server_label: 's', tunnel_id: 'tunnel_1' }),
    'tools[0].tunnel_id',
  ],
  [
    'OpenAI: an approval of a call that is not in the input',
    { input: [{ type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true }] },
    'input[0].approval_request_id',
  ],
  [
    'OpenAI: an approval before the call',
    {
      input: [
        { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true },
        { type: 'mcp_approval_request', id: 'mcpr_1', name: 'f', arguments: '{}', server_label: 's' },
      ],
    },
    'input[0].approval_request_id',
  ],
  ['OpenAI: files beside a message', { messages: [{ role: 'user', file_ids: ['a'] }] }, 'messages[0].file_ids'],
  ['OpenAI: stores of a tool', tool({ type: 'file_search', vector_store_ids: ['vs'] }), 'tools[0].vector_store_ids'],
  ['OpenAI: a container of a tool', tool({ type: 'code_interpreter', container: 'c' }), 'tools[0].container'],
  [
    'OpenAI: files for a new container',
    tool({ type: 'code_interpreter', container: { type: 'auto', file_ids: ['f'] } }),
    'tools[0].container',
  ],
  ['OpenAI: a stored prompt', { ...said('x'), prompt: { id: 'pmpt_1', version: '2' } }, 'prompt'],
  [
    'OpenAI: an answer whose cache is compared',
    { ...said('x'), prompt_cache_options: { comparison_response_id: 'resp_1' } },
    'prompt_cache_options.comparison_response_id',
  ],
  [
    'OpenAI: the same in another spelling',
    { ...said('x'), promptCacheOptions: { comparisonResponseId: 'resp_1' } },
    'promptCacheOptions.comparisonResponseId',
  ],
  ...['thread', 'Thread', 'thread_id', 'threadId'].flatMap((name) => [
    [`Anthropic: ${name}`, { ...said('x'), [name]: { id: 'thread_1' } }, name] as const,
    [
      `Anthropic: ${name} in OpenAI’s dialect`,
      { ...said('x'), extra_body: { [name]: 't' } },
      `extra_body.${name}`,
    ] as const,
    [`Anthropic: ${name} in Gemini’s dialect`, { contents: [], [name]: 't' }, name] as const,
  ]),
  ...['cachedContent', 'cached_content', 'previousInteractionId', 'previous_interaction_id'].map(
    (name) => [`Gemini: ${name}`, { contents: [], [name]: 'a/1' }, name] as const,
  ),
  ['Bedrock: a stored prompt', { ...said('x'), promptId: 'p' }, 'promptId'],
  ['OpenAI: a form', { model: 'm', file_id: 'f' }, 'file_id'],
  ['Ark: what is cached', { ...said('x'), context_id: 'ctx' }, 'context_id'],
  ['Moonshot: a picture', part({ type: 'image_url', image_url: { url: 'ms://f' } }), `${inPart}.image_url.url`],
  ['MiniMax: a film', part({ type: 'video_url', video_url: { url: ' mm_file://f' } }), `${inPart}.video_url.url`],
  ['Mistral: a file', part({ type: 'file', file_id: 'f' }), `${inPart}.file_id`],
  ['Mistral: a document', part({ type: 'document_url', document_url: 's3://b/f' }), `${inPart}.document_url`],
  ['Qwen: a file as instructions', said('fileid://file-fe-1', 'system'), 'messages[0].content'],
  ['Qwen: one in a part', said([{ type: 'text', text: 'fileid://f' }], 'system'), 'messages[0].content'],
  [
    'Zhipu: knowledge',
    tool({ type: 'retrieval', retrieval: { knowledge_id: 'k' } }),
    'tools[0].retrieval.knowledge_id',
  ],
  [
    'Google by OpenAI’s dialect: a file',
    part({ type: 'image_url', image_url: { url: 'https://generativelanguage.googleapis.com/v1beta/files/a' } }),
    `${inPart}.image_url.url`,
  ],
  [
    'Google by OpenAI’s dialect: what is cached',
    { ...said('x'), extra_body: { google: { cached_content: 'cachedContents/a' } } },
    'extra_body.google.cached_content',
  ],
  ['Anthropic: a container of nobody known', { container: 'container_011CPR5CNjB747bTd36fQLFk' }, 'container'],
  [
    'Anthropic: such a container with the provider’s own skills',
    { container: { id: 'container_011CPR5CNjB747bTd36fQLFk', skills: [{ type: 'anthropic', skill_id: 'pdf' }] } },
    'container',
  ],
  ['Anthropic: a container', { ...said('x'), container: { id: 'container_1' } }, 'container'],
  [
    'Anthropic: another’s skill',
    { ...said('x'), container: { skills: [{ type: 'custom', skill_id: 's' }] } },
    'container',
  ],
  ['Anthropic: a picture', part({ type: 'image', source: { type: 'file', file_id: 'f' } }), `${inPart}.source.file_id`],
  ['Anthropic: an upload', part({ type: 'container_upload', file_id: 'f' }), `${inPart}.file_id`],
  [
    'Anthropic: a document in the instructions',
    { ...said('x'), system: [{ type: 'document', source: { type: 'file', file_id: 'f' } }] },
    'system[0].source.file_id',
  ],
  [
    'Anthropic: one in a result',
    part({ type: 'tool_result', content: [{ type: 'document', source: { type: 'file', file_id: 'f' } }] }),
    `${inPart}.content[0].source.file_id`,
  ],
  [
    'Anthropic: one in a document',
    part({ type: 'document', source: { type: 'content', content: [{ type: 'image', source: { file_id: 'f' } }] } }),
    `${inPart}.source.content[0].source.file_id`,
  ],
  [
    'Gemini: what is cached, to be counted',
    { generateContentRequest: { cachedContent: 'c' } },
    'generateContentRequest.cachedContent',
  ],
  [
    'Gemini: a picture of a bucket',
    { instances: [{ prompt: 'x', image: { gcsUri: 'gs://b/f' } }] },
    'instances[0].image.gcsUri',
  ],
  [
    'Gemini: a bucket to draw into',
    { instances: [{ prompt: 'x' }], parameters: { storageUri: 'gs://b' } },
    'parameters.storageUri',
  ],
];

const own: readonly (readonly [what: string, body: unknown])[] = [
  ['nothing of the kind', said('x')],
  ['members that are null', { ...said('x'), container: null, previous_response_id: null }],
  [
    'a new container with the provider’s own skills',
    { container: { skills: [{ type: 'anthropic', skill_id: 'pdf' }] } },
  ],
  ['the text of a completion', { prompt: 'Once upon a time' }],
  ['how a prompt is cached', { ...said('x'), prompt_cache_options: { mode: 'explicit', ttl: '12h' } }],
  ['a tool with a new container', tool({ type: 'code_interpreter', container: { type: 'auto' } })],
  ['a picture open to everybody', part({ type: 'image_url', image_url: { url: 'https://a.example/1.png' } })],
  ['a picture in the request', part({ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } })],
  ['a document that is its text', part({ type: 'document', source: { type: 'text', data: 's3://a is a place.' } })],
  ['a word about files', said('fileid://f is how such files are named')],
  [
    'a function with such names in its schema',
    tool({ type: 'function', function: { name: 'f', parameters: { properties: { file_id: { type: 'string' } } } } }),
  ],
  ['such a schema of Anthropic’s', tool({ name: 'f', input_schema: { properties: { container: {} }, file_id: 1 } })],
  ['arguments of a call', part({ type: 'tool_use', id: 't', name: 'f', input: { file_id: 'f' } })],
  [
    'what a tool of the provider’s has made',
    part({ type: 'bash_code_execution_tool_result', content: { content: [{ file_id: 'f' }], file_id: 'f' } }),
  ],
  [
    'an approval of a call that is in the input',
    {
      input: [
        { type: 'mcp_approval_request', id: 'mcpr_1', name: 'f', arguments: '{}', server_label: 's' },
        { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true },
      ],
    },
  ],
  ['the voice that answers', { ...said('x'), audio: { voice: 'alloy', format: 'wav' } }],
];

describe('a reference to something stored by a provider', () => {
  test.each(named)('is refused by name: %s', (_what, body, param) => {
    expect(keptUpstream(body as JsonObject)).toMatchObject({ param, message: expect.stringContaining(param) });
  });
  test.each(own)('is not found in %s', (_what, body) => {
    expect(keptUpstream(body as JsonObject)).toBeNull();
  });
  test('is not found in ordinary requests', () => {
    for (const { path, body } of requestsAsMeant('x', 'Hello.', false))
      expect([path, keptUpstream(body as JsonObject)]).toEqual([path, null]);
  });
});
