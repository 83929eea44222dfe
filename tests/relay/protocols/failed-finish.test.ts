import { describe, expect, test } from 'vitest';
import { failedCandidate, failedChoice, failedStop, saysFailure } from '../../../src/relay/protocols/failed-finish.js';

/* Which finish reasons are failures, and what is reported of them. */

const confidential = { key: 'sk-secret-0123456789', baseUrl: '', organization: null, other: '', proxy: null };

test.each([
  ...['error', 'network_error', 'model_error', 'server_error', 'insufficient_system_resource', 'abort', 'failed'],
  ...['malformed_function_call', 'function_call_filter: MALFORMED_FUNCTION_CALL', 'engine_overloaded', 'timeout'],
])('the finish reason %s makes the answer a failure', (reason) => expect(saysFailure(reason)).toBe(true));

test.each<unknown>([
  ...['stop', 'length', 'tool_calls', 'function_call', 'content_filter', 'end_turn', 'refusal', 'pause_turn', 'eos'],
  ...['model_context_window_exceeded', 'error_free', 'terror', null, 7, '', `${'x'.repeat(10_000)}_error`],
])('the finish reason %s does not make the answer a failure', (reason) =>
  expect(saysFailure(reason as string)).toBe(false),
);

describe('a failed answer', () => {
  test('has its reason as the code, and the upstream’s message without secrets', () => {
    const choices = [{ finish_reason: 'error', error: { message: 'no room for sk-secret-0123456789' } }];
    const reported = failedChoice(choices, confidential);
    expect(reported).toMatchObject({ status: 502, code: 'error' });
    expect(reported?.message).toContain('no room for ***');
  });

  test('for lack of capacity is temporary', () =>
    expect(failedStop('insufficient_system_resource', confidential)?.status).toBe(503));

  test.each(['MALFORMED_FUNCTION_CALL', 'MALFORMED_RESPONSE', 'MISSING_THOUGHT_SIGNATURE', 'OTHER', 'NO_IMAGE'])(
    'of Gemini is %s',
    (finishReason) => expect(failedCandidate([{ finishReason }], confidential)).not.toBeNull(),
  );

  test.each(['STOP', 'MAX_TOKENS', 'SAFETY', 'RECITATION', 'MODEL_ARMOR', 'IMAGE_SAFETY', 'CONTINUATION'])(
    'of Gemini is not %s',
    (finishReason) => expect(failedCandidate([{ finishReason }], confidential)).toBeNull(),
  );
});
