import type { CallInfo } from '../../contracts/protocol.js';
import { countIn, isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';

/* What Converse answers, in the words of Anthropic's Messages. */

/** Those that the Messages name otherwise. */
const stopReasons: ReadonlyMap<string, string> = new Map([
  ['guardrail_intervened', 'refusal'],
  ['content_filtered', 'refusal'],
]);

/** null: none is reported. */
export function stopReasonIn({ stopReason }: JsonObject): string | null {
  const reported = textIn(stopReason);
  return reported === null ? null : (stopReasons.get(reported) ?? reported);
}

/** What was written to be kept so long. */
const writtenFor = (details: readonly JsonObject[], lifetime: string): number =>
  details.reduce((sum, { ttl, inputTokens }) => sum + (ttl === lifetime ? (countIn(inputTokens) ?? 0) : 0), 0);

/** Its input is without what was read from the cache or written to it. null: nothing usable is reported. */
export function messagesUsage(reported: JsonValue | undefined): JsonObject | null {
  if (!isObject(reported)) return null;
  const { inputTokens, outputTokens, cacheReadInputTokens: read, cacheWriteInputTokens: written } = reported;
  if (countIn(inputTokens) === null && countIn(outputTokens) === null) return null;
  const details = isList(reported.cacheDetails) ? objectsIn(reported.cacheDetails) : null;
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    ...(countIn(read) !== null && { cache_read_input_tokens: read }),
    ...(countIn(written) !== null && { cache_creation_input_tokens: written }),
    ...(details !== null &&
      details.length > 0 && {
        cache_creation: {
          ephemeral_5m_input_tokens: writtenFor(details, '5m'),
          ephemeral_1h_input_tokens: writtenFor(details, '1h'),
        },
      }),
  };
}

const pictureText = ({ format, source }: JsonObject): string =>
  isObject(source) && typeof source.bytes === 'string'
    ? `![image](data:image/${textIn(format) ?? 'png'};base64,${source.bytes})`
    : '';

function blockIn({
  text,
  toolUse,
  reasoningContent: thought,
  citationsContent: cited,
  image,
}: JsonObject): JsonObject[] {
  if (typeof text === 'string') return [{ type: 'text', text }];
  if (isObject(toolUse))
    return [{ type: 'tool_use', id: toolUse.toolUseId, name: toolUse.name, input: toolUse.input ?? {} }];
  if (isObject(thought)) {
    const { reasoningText, redactedContent } = thought;
    if (isObject(reasoningText)) {
      const { text: thinking, signature } = reasoningText;
      return [{ type: 'thinking', thinking, ...(textIn(signature) !== null && { signature }) }];
    }
    return textIn(redactedContent) === null ? [] : [{ type: 'redacted_thinking', data: redactedContent }];
  }
  if (isObject(cited)) return objectsIn(cited.content).flatMap(blockIn);
  return isObject(image) ? [{ type: 'text', text: pictureText(image) }] : [];
}

/** null: there is no answer in it. */
export function conversedMessage(reported: JsonObject, { callId, model }: CallInfo): JsonObject | null {
  const { output, usage } = reported;
  const message = isObject(output) && isObject(output.message) ? output.message : null;
  if (message === null || !isList(message.content)) return null;
  return {
    id: callId,
    type: 'message',
    role: 'assistant',
    model,
    content: objectsIn(message.content).flatMap(blockIn),
    stop_reason: stopReasonIn(reported),
    usage: messagesUsage(usage),
  };
}
