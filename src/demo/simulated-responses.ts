import type { JsonObject } from '../relay/json/json.js';
import type { Speech, Tokens } from './simulated-answers.js';

/* What the simulated provider says in the words of OpenAI's Responses: text, and a summary of what is thought before it. */

const created = 1_750_000_000;

const event = (payload: JsonObject): string => `event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`;

const responseUsage = ({ prompt, cached, completion, reasoning }: Tokens): JsonObject => ({
  input_tokens: prompt,
  input_tokens_details: { cached_tokens: cached },
  output_tokens: completion,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: prompt + completion,
});

const messageId = 'msg_simulated';
const reasoningId = 'rs_simulated';

const messageOf = (text: string): JsonObject => ({
  id: messageId,
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});

function outputOf({ pieces, reasoning }: Speech): JsonObject[] {
  const summary = [{ type: 'summary_text', text: reasoning.join('') }];
  const thought = reasoning.length === 0 ? [] : [{ id: reasoningId, type: 'reasoning', summary }];
  return [...thought, messageOf(pieces.join(''))];
}

/** `usage` null: it is not reported. */
const responseOf = (model: string, output: readonly JsonObject[], status: string, usage: JsonObject | null) => ({
  id: 'resp_simulated',
  object: 'response',
  created_at: created,
  status,
  error: null,
  incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
  model,
  output,
  usage,
  store: false,
  user: null,
});

const statusOf = ({ cut }: Speech): string => (cut ? 'incomplete' : 'completed');

function itemEvents(output_index: number, item: JsonObject, pieces: readonly string[]): JsonObject[] {
  const place = { item_id: item.id, output_index };
  const [within, words] =
    item.type === 'message'
      ? [{ ...place, content_index: 0 }, 'response.output_text.delta']
      : [{ ...place, summary_index: 0 }, 'response.reasoning_summary_text.delta'];
  return [
    { type: 'response.output_item.added', output_index, item: { ...item, content: [], summary: [] } },
    ...pieces.map((delta) => ({ type: words, ...within, delta })),
    { type: 'response.output_item.done', output_index, item },
  ];
}

/** All events but the last, which reports the usage. */
export function responseEvents(model: string, speech: Speech): string[] {
  const output = outputOf(speech);
  const events = [
    { type: 'response.created', response: responseOf(model, [], 'in_progress', null) },
    ...output.flatMap((item, at) => itemEvents(at, item, item.type === 'message' ? speech.pieces : speech.reasoning)),
  ];
  return events.map((one, sequence_number) => event({ ...one, sequence_number }));
}

/** `tokens` null: they are not reported. */
export const lastResponseEvent = (model: string, speech: Speech, tokens: Tokens | null): string => {
  const status = statusOf(speech);
  const usage = tokens === null ? null : responseUsage(tokens);
  const response = responseOf(model, outputOf(speech), status, usage);
  return event({ type: `response.${status}`, sequence_number: 100_000, response });
};

export const responseText = (model: string, speech: Speech, tokens: Tokens | null): string =>
  JSON.stringify(responseOf(model, outputOf(speech), statusOf(speech), tokens === null ? null : responseUsage(tokens)));
