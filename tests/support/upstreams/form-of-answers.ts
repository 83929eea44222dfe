import type { JsonObject } from '../../../src/relay/json/json.js';

/* Whole answers and streams in the forms that most vendors share: 20 tokens in, and 10 out where something is put out. */

export type AnsweredMode = 'chat' | 'completions' | 'embeddings' | 'rerank' | 'moderation';

export interface FormOfAnswers {
  readonly whole: (mode: AnsweredMode) => JsonObject;
  /** Event by event, as text. */
  readonly events: (mode: AnsweredMode) => readonly string[];
  /** So many of them are over with the first words. */
  readonly begin: number;
  readonly refusal: (status: number, message: string) => JsonObject;
}

const said = ['A list ', 'of debts.'];
const words = said.join('');
const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 };
const vectors = {
  object: 'list',
  model: 'm',
  data: [{ object: 'embedding', index: 0, embedding: [0.25, -0.5] }],
  usage: { prompt_tokens: 20, total_tokens: 20 },
};
const ranking = {
  results: [
    { index: 1, relevance_score: 0.75 },
    { index: 0, relevance_score: 0.25 },
  ],
  usage: { total_tokens: 20 },
};
const judgement = {
  ...{ id: 'modr-1', model: 'm' },
  results: [{ flagged: false, categories: { violence: false }, category_scores: { violence: 0.001 } }],
  usage: { prompt_tokens: 20, total_tokens: 20 },
};
/** By the modes that put out no words. */
const wordless: Partial<Record<AnsweredMode, JsonObject>> = {
  embeddings: vectors,
  rerank: ranking,
  moderation: judgement,
};
const data = (value: JsonObject): string => `data: ${JSON.stringify(value)}\n\n`;
const named = (value: JsonObject): string => `event: ${value.type}\n${data(value)}`;

const chunk = (mode: AnsweredMode, text: string, finish_reason: string | null, more: JsonObject = {}): JsonObject => ({
  ...{ id: 'c1', object: mode === 'chat' ? 'chat.completion.chunk' : 'text_completion', created: 1, model: 'm' },
  choices: [{ index: 0, ...(mode === 'chat' ? { delta: { content: text } } : { text }), finish_reason }],
  ...more,
});

const openAi: FormOfAnswers = {
  begin: 1,
  whole: (mode) => {
    const without = wordless[mode];
    if (without !== undefined) return without;
    const choice = mode === 'chat' ? { message: { role: 'assistant', content: words } } : { text: words };
    const object = mode === 'chat' ? 'chat.completion' : 'text_completion';
    return {
      id: 'c1',
      object,
      created: 1,
      model: 'm',
      choices: [{ index: 0, ...choice, finish_reason: 'stop' }],
      usage,
    };
  },
  events: (mode) => [
    ...said.map((text) => data(chunk(mode, text, null))),
    data(chunk(mode, '', 'stop')),
    data(chunk(mode, '', null, { choices: [], usage })),
    'data: [DONE]\n\n',
  ],
  refusal: (status, message) => ({ error: { message, type: 'refused', param: null, code: `refused_${status}` } }),
};

/** Completions are answered as chats are. */
const completesAsChat: FormOfAnswers = {
  ...openAi,
  whole: (mode) => openAi.whole(mode === 'completions' ? 'chat' : mode),
  events: () => openAi.events('chat'),
};

const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_sequence: null };

const anthropic: FormOfAnswers = {
  begin: 3,
  whole: () => ({
    ...message,
    content: [{ type: 'text', text: words }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 20, output_tokens: 10 },
  }),
  events: () =>
    [
      {
        type: 'message_start',
        message: { ...message, content: [], stop_reason: null, usage: { input_tokens: 20, output_tokens: 1 } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...said.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 10 } },
      { type: 'message_stop' },
    ].map(named),
  refusal: (status, text) => ({
    type: 'error',
    error: {
      type: status === 401 ? 'authentication_error' : status === 429 ? 'rate_limit_error' : 'api_error',
      message: text,
    },
  }),
};

const candidate = (text: string, finishReason: string | null): JsonObject => ({
  candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, ...(finishReason && { finishReason }) }],
});
const usageMetadata = { promptTokenCount: 20, candidatesTokenCount: 10, totalTokenCount: 30 };

const gemini: FormOfAnswers = {
  begin: 1,
  whole: () => ({ ...candidate(words, 'STOP'), usageMetadata }),
  events: () => [data(candidate('A list ', null)), data({ ...candidate('of debts.', 'STOP'), usageMetadata })],
  refusal: (status, text) => ({ error: { code: status, message: text, status: 'REFUSED' } }),
};

export const formsOfAnswers = { openAi, completesAsChat, anthropic, gemini } as const;
