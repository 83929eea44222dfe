import type { JsonObject } from '../relay/json/json.js';
import type { Speech, Tokens } from './simulated-answers.js';

/* What the simulated provider says in the words of Anthropic's Messages: text, and what is thought before it. */

const event = (payload: JsonObject): string => `event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`;

const stopOf = ({ cut }: Speech): JsonObject => ({ stop_reason: cut ? 'max_tokens' : 'end_turn', stop_sequence: null });

export const messageUsage = ({ prompt, cached, completion }: Tokens): JsonObject => ({
  input_tokens: prompt - cached,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: cached,
  output_tokens: completion,
});

const head = (model: string): JsonObject => ({ id: 'msg_simulated', type: 'message', role: 'assistant', model });

function blockEvents(index: number, block: JsonObject, deltas: readonly JsonObject[]): string[] {
  return [
    event({ type: 'content_block_start', index, content_block: block }),
    ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
    event({ type: 'content_block_stop', index }),
  ];
}

/** What a stream begins with: it reports the input. */
export const startEvent = (model: string, tokens: Tokens): string => {
  const message = { ...head(model), content: [], stop_reason: null, stop_sequence: null };
  return event({ type: 'message_start', message: { ...message, usage: messageUsage({ ...tokens, completion: 1 }) } });
};

/** What comes between its beginning and its end. */
export function messageEvents({ pieces, reasoning }: Speech): string[] {
  const thoughts = reasoning.map((thinking) => ({ type: 'thinking_delta', thinking }));
  const texts = pieces.map((text) => ({ type: 'text_delta', text }));
  const thought =
    reasoning.length === 0 ? [] : blockEvents(0, { type: 'thinking', thinking: '', signature: '' }, thoughts);
  return [...thought, ...blockEvents(thought.length === 0 ? 0 : 1, { type: 'text', text: '' }, texts)];
}

/** `tokens` null: they are not reported. */
export const endEvents = (speech: Speech, tokens: Tokens | null): string =>
  event({
    type: 'message_delta',
    delta: stopOf(speech),
    usage: tokens === null ? {} : { output_tokens: tokens.completion },
  }) + event({ type: 'message_stop' });

/** A complete answer with its usage left out: text before and after the place where usage goes. */
export function messageBody(model: string, speech: Speech): readonly [string, string] {
  const thinking = speech.reasoning.join('');
  const thought = thinking === '' ? [] : [{ type: 'thinking', thinking, signature: '' }];
  const content = [...thought, { type: 'text', text: speech.pieces.join('') }];
  const body = JSON.stringify({ ...head(model), content, ...stopOf(speech) });
  return [body.slice(0, -1), '}'];
}
