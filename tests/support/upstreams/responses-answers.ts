import { isObject, type JsonObject } from '../../../src/relay/json/json.js';

/* Answers of the Responses interface, whole and as events, as an upstream that has it sends them. */

export const reportedUsage = (input: number, output: number, { cached = 0, reasoning = 0 } = {}): JsonObject => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + output,
});

export const messageItem = (text: string): JsonObject => ({
  id: 'msg_0123456789abcdef0123',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});

export const callItem = (given: string): JsonObject => ({
  id: 'fc_0123456789abcdef0123',
  type: 'function_call',
  status: 'completed',
  call_id: 'call_1',
  name: 'look_up',
  arguments: given,
});

export const searchItem = (type = 'search'): JsonObject => ({
  id: 'ws_0123456789abcdef0123',
  type: 'web_search_call',
  status: 'completed',
  action: { type, query: 'ledgers' },
});

export const reasoningItem = (summary: string, sealed = 'gAAAAABsealed'): JsonObject => ({
  id: 'rs_0123456789abcdef0123',
  type: 'reasoning',
  summary: summary === '' ? [] : [{ type: 'summary_text', text: summary }],
  encrypted_content: sealed,
});

export const codeItem: JsonObject = {
  id: 'ci_0123456789abcdef0123',
  type: 'code_interpreter_call',
  status: 'completed',
  container_id: 'cntr_0123456789abcdef0123',
  code: 'print(1)',
  outputs: [],
};

export const responseOf = (output: readonly JsonObject[], rest: JsonObject = {}): JsonObject => ({
  id: 'resp_0123456789abcdef0123',
  object: 'response',
  created_at: 1_760_000_000,
  status: 'completed',
  error: null,
  incomplete_details: null,
  model: 'm',
  output,
  usage: reportedUsage(20, 10),
  someday: { number: 12345678901234567890n.toString() },
  ...rest,
});

const frame = (event: JsonObject): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** The events before the last one. Words come in pieces of eight letters. */
export function eventsOf(response: JsonObject): string[] {
  const begun = { ...response, status: 'in_progress', output: [], usage: null };
  const events: JsonObject[] = [
    { type: 'response.created', response: begun },
    { type: 'response.someday', thought: 'by a later version' },
  ];
  for (const [at, item] of (response.output as JsonObject[]).entries()) {
    const place = { item_id: item.id, output_index: at };
    const empty = item.type === 'message' ? { ...item, content: [] } : { ...item, arguments: '', input: '' };
    events.push({ type: 'response.output_item.added', output_index: at, item: empty });
    const [part] = Array.isArray(item.content) ? item.content : [];
    const pieces = (text: unknown): string[] => String(text).match(/[\s\S]{1,8}/g) ?? [];
    if (isObject(part)) {
      const within = { ...place, content_index: 0 };
      events.push({ type: 'response.content_part.added', ...within, part: { ...part, text: '' } });
      for (const delta of pieces(part.text)) events.push({ type: 'response.output_text.delta', ...within, delta });
      events.push({ type: 'response.content_part.done', ...within, part });
    }
    for (const [summary_index, thought] of (item.summary as JsonObject[] | undefined)?.entries() ?? []) {
      const within = { ...place, summary_index };
      events.push({ type: 'response.reasoning_summary_part.added', ...within, part: { ...thought, text: '' } });
      for (const delta of pieces(thought.text))
        events.push({ type: 'response.reasoning_summary_text.delta', ...within, delta });
      events.push({ type: 'response.reasoning_summary_text.done', ...within, text: thought.text ?? '' });
    }
    if (typeof item.input === 'string')
      for (const delta of pieces(item.input))
        events.push({ type: 'response.custom_tool_call_input.delta', ...place, delta });
    if (typeof item.arguments === 'string')
      for (const delta of pieces(item.arguments))
        events.push({ type: 'response.function_call_arguments.delta', ...place, delta });
    events.push({ type: 'response.output_item.done', output_index: at, item });
  }
  return events.map((event, sequence_number) => frame({ ...event, sequence_number }));
}

export const lastEventOf = (response: JsonObject): string =>
  frame({ type: `response.${response.status}`, sequence_number: 99, response });

export const streamOf = (response: JsonObject): string => eventsOf(response).join('') + lastEventOf(response);
