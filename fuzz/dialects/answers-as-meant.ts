import type { Wire } from './requests-as-meant.js';

/* An answer of each wire with much in it, whole and as the frames of a stream. */

type Frame = Readonly<Record<string, unknown>>;

const openAiCalls = (index: number, id: string, name: string) => ({
  ...{ index, id, type: 'function' },
  function: { name, arguments: '{"path":"a.txt","id":2512292042121000001}' },
  extra_content: { google: { thought_signature: 'c2ln' } },
});
const openAiUsage = {
  prompt_tokens: 90,
  completion_tokens: 30,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 3, accepted_prediction_tokens: 0 },
};
const chunk = (delta: Frame | null, finish: string | null = null): Frame => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'upstream-model',
  choices: delta === null ? [] : [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  usage: delta === null ? openAiUsage : null,
});
const piece = (index: number, text: string, first: Frame = {}): Frame =>
  chunk({ tool_calls: [{ index, ...first, function: { ...(first.id ? { name: 'read' } : {}), arguments: text } }] });

const anthropicUsage = {
  input_tokens: 90,
  cache_creation_input_tokens: 2,
  cache_read_input_tokens: 4,
  cache_creation: { ephemeral_5m_input_tokens: 1, ephemeral_1h_input_tokens: 1 },
  output_tokens: 30,
  server_tool_use: { web_search_requests: 1 },
};
const anthropicBlocks = [
  { type: 'thinking', thinking: 'A file.', signature: 'c2ln' },
  { type: 'redacted_thinking', data: 'b2Rk' },
  { type: 'text', text: 'I read.', citations: null },
  { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'a.txt' } },
];
const message = (content: readonly unknown[], stop: string | null): Frame => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'upstream-model',
  content,
  stop_reason: stop,
  stop_sequence: null,
  usage: anthropicUsage,
});
const block = (index: number, begun: Frame, ...deltas: Frame[]): Frame[] => [
  { type: 'content_block_start', index, content_block: begun },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];

const geminiResponse = (parts: readonly Frame[], finish: string | null = null): Frame => ({
  candidates: [
    {
      content: { role: 'model', parts },
      ...(finish === null ? {} : { finishReason: finish }),
      index: 0,
      safetyRatings: [{ category: 'HARM_CATEGORY_HARASSMENT', probability: 'NEGLIGIBLE' }],
    },
  ],
  usageMetadata: {
    promptTokenCount: 90,
    candidatesTokenCount: 27,
    thoughtsTokenCount: 3,
    totalTokenCount: 120,
    cachedContentTokenCount: 4,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 90 }],
  },
  modelVersion: 'upstream-model',
  responseId: 'r1',
});
const geminiParts: readonly Frame[] = [
  { text: 'A file.', thought: true },
  { text: 'I read.' },
  { functionCall: { id: 'c1', name: 'read', args: { path: 'a.txt', lines: 2 } }, thoughtSignature: 'c2ln' },
];

export const wholeAsMeant: Readonly<Record<Wire, Frame>> = {
  openai: {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'upstream-model',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'I read.',
          reasoning_content: 'A file.',
          tool_calls: [openAiCalls(0, 'call_1', 'read'), openAiCalls(1, 'call_2', 'write')],
          annotations: [
            { type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A', start_index: 0 } },
          ],
        },
        text: 'I read.',
        logprobs: null,
        finish_reason: 'tool_calls',
      },
    ],
    data: [{ object: 'embedding', index: 0, embedding: [0.1, 0.2] }],
    usage: openAiUsage,
  },
  anthropic: message(anthropicBlocks, 'tool_use'),
  gemini: geminiResponse(geminiParts, 'STOP'),
};

export const framesAsMeant: Readonly<Record<Wire, readonly Frame[]>> = {
  openai: [
    chunk({ role: 'assistant', content: '' }),
    chunk({ reasoning_content: 'A file.' }),
    chunk({ content: 'I ' }),
    piece(0, '{"path":', { id: 'call_1', type: 'function' }),
    piece(1, '{"path":', { id: 'call_2', type: 'function' }),
    chunk({ content: 'read.' }),
    piece(0, '"a.txt"}'),
    piece(1, '"b.txt"}'),
    chunk({}, 'tool_calls'),
    chunk(null),
  ],
  anthropic: [
    { type: 'message_start', message: message([], null) },
    ...block(
      0,
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: 'A file.' },
      { type: 'signature_delta', signature: 'c2ln' },
    ),
    ...block(1, { type: 'redacted_thinking', data: 'b2Rk' }),
    { type: 'ping' },
    ...block(2, { type: 'text', text: '' }, { type: 'text_delta', text: 'I read.' }),
    ...block(
      3,
      { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} },
      { type: 'input_json_delta', partial_json: '{"path":' },
      { type: 'input_json_delta', partial_json: '"a.txt"}' },
    ),
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: anthropicUsage },
    { type: 'message_stop' },
  ],
  gemini: [...geminiParts.map((part) => geminiResponse([part])), geminiResponse([{ text: '' }], 'STOP')],
};
