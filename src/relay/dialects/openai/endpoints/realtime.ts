import type { Endpoint } from '../../../contracts/endpoint.js';
import { openAiCaller } from '../dialect.js';

/*
 * A session that is spoken over a WebSocket. What is asked for is not known when it is opened: for each of its responses
 * all that its model can take in and put out is reserved, or at the least what begins of a conversation.
 */

/** Tokens: no realtime model takes more. */
const largestContext = 128_000;
/** Instructions and tools, and a few sentences. */
const beginning = 2_000;

export const realtime: Endpoint = {
  path: '/v1/realtime',
  dialect: openAiCaller,
  body: 'json',
  mode: 'realtime',
  usualModel: null,
  answersAudio: false,
  thinking: null,
  toNeutral: null,
  invalid: () => null,
  promptTexts: () => [],
  asksForAudio: () => true,
  asksForStream: () => true,
  asksForUsage: () => false,
  demand: () => ({
    prompt: {
      expected: 0,
      conservative: { input: beginning, audioInput: beginning },
      max: { input: largestContext, audioInput: largestContext },
      uncounted: true,
      brings: false,
    },
    answers: 1,
    asked: null,
    unlimited: true,
  }),
};
