import type { Usage } from '../../../domain/call/usage.js';
import type { WholeAnswer } from '../../contracts/answer-writer.js';
import { isAnthropicReasoning } from '../../contracts/neutral.js';
import { parseExactly } from '../../json/exact-json.js';
import { jsonText } from '../../json/exact-number.js';
import { isObject, type JsonObject, objectsIn, parseJson, textIn } from '../../json/json.js';
import { carryingBlock, signatureOf } from '../../protocols/anthropic/carried-members.js';
import {
  correctedAnthropicUsage,
  isConsistentAnthropicUsage,
  writeAnthropicUsage,
} from '../../protocols/anthropic/usage.js';
import { rewrittenBytes } from '../../protocols/carried.js';
import { messageIn } from '../../protocols/openai/reply.js';
import { anthropicShownId } from '../../protocols/tool-call-ids.js';
import { stopReasonOf } from './stop-reason.js';

/* A complete answer for Anthropic's clients. */

const inputOf = (given: unknown): JsonObject => {
  const input = typeof given === 'string' ? parseExactly(given) : given;
  return isObject(input) ? input : {};
};

/** Thinking first; signed where its model can be shown it again. */
function thinkingBlocks(message: JsonObject): JsonObject[] {
  const { reasoning_content, reasoning, reasoning_details: details } = message;
  const blocks = objectsIn(details).flatMap((detail): JsonObject[] => {
    const { type, text, signature, data } = detail;
    if (!isAnthropicReasoning(detail)) return type === 'reasoning.encrypted' ? [carryingBlock({ detail })] : [];
    if (type === 'reasoning.text' && textIn(signature) !== null)
      return [{ type: 'thinking', thinking: textIn(text) ?? '', signature }];
    return type === 'reasoning.encrypted' && textIn(data) !== null ? [{ type: 'redacted_thinking', data }] : [];
  });
  if (blocks.some(({ type }) => type === 'thinking')) return blocks;
  const plain = textIn(reasoning_content) ?? textIn(reasoning);
  return plain === null ? blocks : [{ type: 'thinking', thinking: plain, signature: signatureOf(message) }, ...blocks];
}

function blocksOf(message: JsonObject, callId: string): JsonObject[] {
  const said = textIn(message.content) ?? textIn(message.refusal);
  const calls = objectsIn(message.tool_calls).flatMap((call, at): JsonObject[] => {
    const { name, arguments: given } = isObject(call.function) ? call.function : {};
    const id = textIn(call.id) ?? `toolu_${callId}_${at}`;
    const { extra_content: extraContent } = call;
    return [
      ...(isObject(extraContent) ? [carryingBlock({ call: id, extraContent })] : []),
      { type: 'tool_use', id: anthropicShownId(id), name: name ?? '', input: inputOf(given) },
    ];
  });
  return [...thinkingBlocks(message), ...(said === null ? [] : [{ type: 'text', text: said }]), ...calls];
}

/** An answer in neutral words as a message. */
function messageOf({ body, usage }: WholeAnswer): JsonObject {
  const choice = objectsIn(body.choices)[0] ?? {};
  const id = textIn(body.id) ?? '';
  const content = blocksOf(messageIn(choice) ?? {}, id);
  return {
    id,
    type: 'message',
    role: 'assistant',
    model: body.model,
    content,
    ...stopReasonOf(
      choice,
      content.some(({ type }) => type === 'tool_use'),
    ),
    usage: writeAnthropicUsage(usage ?? {}),
  };
}

export function anthropicWholeAnswer(answer: WholeAnswer): Buffer {
  const { body, own, received, usage } = answer;
  if (!own) return Buffer.from(jsonText(messageOf(answer)));
  return usage === null || !isObject(body.usage) || isConsistentAnthropicUsage(body.usage)
    ? received
    : withAnthropicUsage(received, usage);
}

/** Parses the answer once more: few answers come this way. */
export function withAnthropicUsage(bytes: Buffer, usage: Usage): Buffer {
  const message = parseJson(bytes.toString('utf8'));
  if (!isObject(message)) return bytes;
  const reported = isObject(message.usage) ? message.usage : {};
  return Buffer.from(rewrittenBytes(bytes, { ...message, usage: correctedAnthropicUsage(reported, usage) }));
}
