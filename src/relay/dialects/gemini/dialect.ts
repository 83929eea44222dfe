import type { CallerDialect } from '../../contracts/caller-dialect.js';
import { serviceAsked } from '../../contracts/service-tier.js';
import { upstreamRequestIds } from '../../upstream/passed-headers.js';
import { misspelled } from '../spelling.js';
import { errorBody } from './error-body.js';
import { ArrayFrames, EventFrames } from './frames.js';
import { geminiNames } from './names.js';
import { GeminiWriter } from './stream-writer.js';
import { geminiWholeAnswer, withGeminiUsage } from './whole-answer.js';

/* How Gemini's clients are answered. */

export const geminiCaller: CallerDialect = {
  wire: 'gemini',
  misspelled: (body) => misspelled(body, geminiNames),
  serviceAsked: serviceAsked(
    ['serviceTier', 'service_tier'],
    new Set(['SERVICE_TIER_UNSPECIFIED', 'unspecified', 'UNSPECIFIED']),
    new Set(['standard', 'STANDARD']),
  ),
  writer: (caller, _channel, info) => new GeminiWriter(new EventFrames(), caller.promptTokens, caller.believed, info),
  whole: geminiWholeAnswer,
  withUsage: withGeminiUsage,
  upstreamHeaders: upstreamRequestIds,
  errorBody,
  errorFrame: (error, requestId) => `data: ${errorBody(error, requestId)}\n\n`,
  endFrame: '',
  idHeader: null,
  // An empty line between two events. Clients of Google's that take events for lines would read a comment as JSON.
  keepAlive: '\n',
};

/** Who does not ask for events gets the responses of a stream as one JSON array, member by member. */
export const geminiArrayCaller: CallerDialect = {
  ...geminiCaller,
  streamType: 'application/json; charset=utf-8',
  writer: (caller, _channel, info) => new GeminiWriter(new ArrayFrames(), caller.promptTokens, caller.believed, info),
  errorFrame: (error, requestId, { begun }) => `${begun ? ',\r\n' : '['}${errorBody(error, requestId)}`,
  endFrame: ']',
};
