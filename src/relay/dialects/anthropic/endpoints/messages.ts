import type { Endpoint } from '../../../contracts/endpoint.js';
import { keptInMessages } from '../../../contracts/kept-ids.js';
import { asksForAudio } from '../../../contracts/neutral.js';
import { countIn, isList } from '../../../json/json.js';
import { compacts } from '../../../metering/compaction.js';
import { anthropicCaller } from '../dialect.js';
import { thinkingOf } from '../neutral-generation.js';
import { promptOf, promptTexts } from '../prompt.js';
import { toNeutral } from '../to-neutral.js';
import { invalidMessages } from '../validate.js';

/** Conversations, as Anthropic's clients hold them. */
export const messages: Endpoint = {
  path: '/v1/messages',
  dialect: anthropicCaller,
  body: 'json',
  mode: 'chat',
  usualModel: null,
  answersAudio: false,
  thinking: thinkingOf,
  toNeutral,
  invalid: invalidMessages,
  promptTexts,
  beginning: ({ system, messages }) => [system, ...(isList(messages) ? messages.slice(0, 1) : [])],
  asksForAudio,
  asksForStream: ({ stream }) => stream === true,
  // Its clients always get the usage, so it is always requested upstream.
  asksForUsage: () => true,
  kept: keptInMessages,
  demand: ({ body, bytes, model, names }) => ({
    prompt: promptOf(body, bytes, model, names),
    answers: 1,
    asked: countIn(body.max_tokens),
    compacts: compacts(body),
  }),
};
