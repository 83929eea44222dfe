import { converseFramesOf } from './event-stream.js';
import { saidByAll, type WireAnswers } from './wire-answers.js';

/* The interfaces of Amazon Bedrock beside InvokeModel, for the journey over all wires. */

const apiKey = 'bedrock-api-key-YmVkcm9jaw==';
const key = `${apiKey}|us-east-1`;
const frames = 'application/vnd.amazon.eventstream';

const converseUsage = {
  inputTokens: 900,
  outputTokens: 50,
  totalTokens: 1_050,
  cacheReadInputTokens: 100,
  cacheWriteInputTokens: 0,
};
const delta = (text: string) => ({ contentBlockDelta: { contentBlockIndex: 0, delta: { text } } });

const converse: WireAnswers = {
  ...{ type: 33, key, shownKey: apiKey, model: 'meta.wire-v1' },
  path: '/model/meta.wire-v1/converse',
  streamPath: '/model/meta.wire-v1/converse-stream',
  whole: {
    output: { message: { role: 'assistant', content: [{ text: saidByAll }] } },
    stopReason: 'end_turn',
    usage: converseUsage,
  },
  stream: converseFramesOf(
    [
      { messageStart: { role: 'assistant' } },
      delta('Half of '),
      delta('an answer'),
      { contentBlockStop: { contentBlockIndex: 0 } },
      { messageStop: { stopReason: 'end_turn' } },
      { metadata: { usage: converseUsage } },
    ]
      .map((event) => `data: ${JSON.stringify(event)}\n`)
      .join('\n'),
  ),
  streamType: frames,
  // Why it ended comes before its usage: a stream that lacks that alone is whole.
  endFrames: 2,
  refusal: (message) => ({ message }),
  cached: 100,
};

const openAiUsage = {
  prompt_tokens: 1_000,
  completion_tokens: 50,
  total_tokens: 1_050,
  prompt_tokens_details: { cached_tokens: 100 },
};
const chunk = (choice: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', choices: [{ index: 0, delta: choice, finish_reason: finish }] })}\n\n`;

/** A chat in OpenAI's form, at whichever address. */
export const openAiForm = {
  whole: {
    id: 'c1',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: saidByAll }, finish_reason: 'stop' }],
    usage: openAiUsage,
  },
  stream: [
    chunk({ role: 'assistant', content: 'Half of ' }),
    chunk({ content: 'an answer' }),
    chunk({}, 'stop'),
    `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', choices: [], usage: openAiUsage })}\n\ndata: [DONE]\n\n`,
  ],
  endFrames: 2,
  refusal: (message: string) => ({ error: { message, type: 'some_error' } }),
  cached: 100,
};

const openAiAtAmazon: WireAnswers = {
  ...openAiForm,
  ...{ type: 33, key, shownKey: apiKey, model: 'openai.wire-v1', basePath: '/openai/v1' },
  path: '/openai/v1/chat/completions',
};

const usage = { input_tokens: 900, cache_read_input_tokens: 100, cache_creation_input_tokens: 0, output_tokens: 50 };
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_sequence: null };
const event = (said: { readonly type: string; readonly [name: string]: unknown }): string =>
  `event: ${said.type}\ndata: ${JSON.stringify(said)}\n\n`;
const words = (text: string): string =>
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });

const messagesForm: WireAnswers = {
  ...{ type: 33, key, shownKey: apiKey, model: 'anthropic.wire-v1', basePath: '/anthropic' },
  path: '/anthropic/v1/messages',
  whole: { ...message, content: [{ type: 'text', text: saidByAll }], stop_reason: 'end_turn', usage },
  stream: [
    event({ type: 'message_start', message: { ...message, content: [], stop_reason: null } }),
    event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    words('Half of '),
    words('an answer'),
    event({ type: 'content_block_stop', index: 0 }) +
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage }) +
      event({ type: 'message_stop' }),
  ],
  refusal: (text) => ({ type: 'error', error: { type: 'api_error', message: text } }),
  cached: 100,
};

export const bedrockAnswers: readonly WireAnswers[] = [converse, openAiAtAmazon, messagesForm];
