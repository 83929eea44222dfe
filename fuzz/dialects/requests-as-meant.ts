/* A request of each endpoint with much in it, as its dialect means it. What is odd is done to a copy. */

type Body = Readonly<Record<string, unknown>>;

export interface Meant {
  readonly path: string;
  readonly body: Body;
}

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const schema = {
  type: 'object',
  properties: { path: { type: 'string' }, lines: { type: 'integer', maximum: 9_000, enum: [1, 2] } },
  required: ['path'],
};
const input = { path: 'a.txt', lines: 2 };

/** The model that is asked says which wire the upstream speaks. */
export const modelOfWire = { openai: 'fuzz-random', anthropic: 'claude-fuzz', gemini: 'gemini-fuzz' } as const;
/** Of the Gemini wire: it does nothing but draw. */
export const drawingModel = 'imagen-fuzz';
/** Of the OpenAI wire: it hears, and counts tokens of sound. */
export const hearingModel = 'fuzz-transcribe';
export type Wire = keyof typeof modelOfWire;

const chat = (model: string, text: string, stream: boolean): Body => ({
  model,
  messages: [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${png}`, detail: 'low' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      reasoning_content: 'A file.',
      tool_calls: [
        {
          id: 'call_1',
          type: 'function',
          function: { name: 'read', arguments: JSON.stringify(input) },
          extra_content: { google: { thought_signature: 'c2ln' } },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'Text.' }] },
  ],
  tools: [{ type: 'function', function: { name: 'read', description: 'Reads.', parameters: schema, strict: false } }],
  tool_choice: { type: 'function', function: { name: 'read' } },
  response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
  stream,
  stream_options: { include_usage: true },
  max_tokens: 900,
  n: 1,
  stop: ['END'],
  seed: 7,
  temperature: 1,
  top_p: 0.9,
  logit_bias: { '50256': -100 },
  metadata: { user_id: 'u' },
  reasoning_effort: 'low',
  user: 'u',
});

const messages = (model: string, text: string, stream: boolean): Body => ({
  model,
  max_tokens: 3_000,
  system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'A file.', signature: '' },
        { type: 'redacted_thinking', data: 'b2Rk' },
        { type: 'tool_use', id: 'toolu_1', name: 'read', input },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          is_error: false,
          content: [
            { type: 'text', text: 'Text.' },
            { type: 'tool_reference', tool_name: 'write' },
            { type: 'search_result', source: 'a.txt', title: 'A', content: [{ type: 'text', text: 'B' }] },
          ],
        },
      ],
    },
  ],
  tools: [
    { name: 'read', description: 'Reads.', input_schema: schema },
    { name: 'write', input_schema: schema, defer_loading: true },
  ],
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  thinking: { type: 'enabled', budget_tokens: 1_024 },
  stop_sequences: ['END'],
  metadata: { user_id: 'u' },
  stream,
});

const contents = (text: string): readonly Body[] => [
  { role: 'user', parts: [{ text }, { inlineData: { mimeType: 'image/png', data: png } }] },
  {
    role: 'model',
    parts: [
      { text: 'A file.', thought: true },
      { functionCall: { id: 'c1', name: 'read', args: input }, thoughtSignature: 'c2ln' },
    ],
  },
  { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'read', response: { output: 'Text.' } } }] },
];

const generate = (text: string): Body => ({
  contents: contents(text),
  systemInstruction: { parts: [{ text: 'Be brief.' }] },
  tools: [{ functionDeclarations: [{ name: 'read', description: 'Reads.', parameters: schema }] }],
  toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['read'] } },
  safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
  generationConfig: {
    candidateCount: 1,
    maxOutputTokens: 900,
    stopSequences: ['END'],
    seed: 7,
    temperature: 1,
    topK: 5,
    thinkingConfig: { includeThoughts: true, thinkingBudget: 128 },
  },
});

const prediction = (text: string): Body => ({
  instances: [{ prompt: text }],
  parameters: {
    sampleCount: 1,
    aspectRatio: '16:9',
    negativePrompt: 'rain',
    personGeneration: 'allow_adult',
    seed: 7,
    addWatermark: false,
    outputOptions: { mimeType: 'image/png' },
  },
});

const drawing = (text: string, stream: boolean): Body => ({
  model: drawingModel,
  messages: [{ role: 'user', content: [{ type: 'text', text }] }],
  stream,
});

/** One request of each endpoint; `text`: stands in each, where its upstream finds it. */
export function requestsAsMeant(model: string, text: string, stream: boolean): readonly Meant[] {
  const gemini = `/v1beta/models/${model}`;
  const draws = `/v1beta/models/${drawingModel}`;
  const embedded = { content: { parts: [{ text }] }, taskType: 'RETRIEVAL_QUERY', outputDimensionality: 2 };
  return [
    { path: '/v1/chat/completions', body: chat(model, text, stream) },
    { path: '/v1/messages', body: messages(model, text, stream) },
    { path: `${gemini}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`, body: generate(text) },
    { path: `${gemini}:${stream ? 'streamGenerateContent' : 'generateContent'}`, body: generate(text) },
    {
      path: '/v1/completions',
      body: { model, prompt: [text], stream, max_tokens: 50, n: 1, best_of: 1, stop: 'END', logprobs: 1, echo: false },
    },
    { path: '/v1/embeddings', body: { model, input: [text], dimensions: 2, encoding_format: 'float', user: 'u' } },
    { path: `${gemini}:embedContent`, body: embedded },
    { path: `${gemini}:batchEmbedContents`, body: { requests: [{ model: `models/${model}`, ...embedded }] } },
    { path: '/v1/messages/count_tokens', body: messages(model, text, false) },
    { path: `${gemini}:countTokens`, body: { contents: contents(text) } },
    { path: `${draws}:predict`, body: prediction(text) },
    { path: `${gemini}:predict`, body: prediction(text) },
    { path: `${draws}:generateContent`, body: { contents: [{ role: 'user', parts: [{ text }] }] } },
    { path: '/v1/chat/completions', body: drawing(text, stream) },
    { path: '/v1/messages', body: { ...drawing(text, stream), max_tokens: 3_000 } },
    { path: '/v1/audio/speech', body: { model, input: text, voice: 'alloy', response_format: 'mp3', speed: 1 } },
  ];
}
