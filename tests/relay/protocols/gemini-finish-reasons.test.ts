import { expect, test } from 'vitest';
import { stopReasonOf } from '../../../src/relay/dialects/anthropic/stop-reason.js';
import { finishReasonOf } from '../../../src/relay/dialects/gemini/response.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { confidentialOf } from '../../../src/relay/protocols/confidential-of.js';
import { failedCandidate } from '../../../src/relay/protocols/failed-finish.js';
import { GeminiReader } from '../../../src/relay/protocols/gemini/answer.js';
import { plainChannel, providerOfType } from '../providers/golden.js';

/* Every `FinishReason` of `@google/genai` 3.3.0, as clients of each dialect are told of it. */

const failures = [
  ...['OTHER', 'IMAGE_OTHER', 'NO_IMAGE', 'MALFORMED_FUNCTION_CALL', 'MALFORMED_RESPONSE'],
  ...['UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'MISSING_THOUGHT_SIGNATURE'],
];
const withheld = [
  ...['SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'ESCALATION', 'MODEL_ARMOR'],
  ...['IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT', 'IMAGE_RECITATION', 'PUP_LIMITED_DISABLED', 'OF_TOMORROW'],
];

const choiceOf = (finishReason: string): JsonObject => {
  const reader = new GeminiReader({ callId: 'c', createdAt: 1, model: 'gemini-3-pro' });
  const [choice] = reader.choices({ candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason }] }, true);
  return choice ?? {};
};

test.each<readonly [string, string, string]>([
  ['STOP', 'stop', 'end_turn'],
  ['MAX_TOKENS', 'length', 'max_tokens'],
  ['CONTINUATION', 'length', 'max_tokens'],
  ...withheld.map((reason) => [reason, 'content_filter', 'refusal'] as const),
])(
  'the finish reason %s is %s for OpenAI’s clients, %s for Anthropic’s, and itself for Google’s',
  (reason, openAi, anthropic) => {
    const choice = choiceOf(reason);
    expect([choice.finish_reason, stopReasonOf(choice, false).stop_reason, finishReasonOf(choice)]).toEqual([
      openAi,
      anthropic,
      reason,
    ]);
  },
);

test.each(failures)('the finish reason %s is a failure of the upstream', (finishReason) =>
  expect(failedCandidate([{ finishReason }], confidentialOf(providerOfType(24), plainChannel))).not.toBeNull(),
);
