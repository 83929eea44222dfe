import { anthropicFacts } from './anthropic-facts.js';
import type { ModelFacts, PictureTokens } from './fact-kinds.js';
import type { FactRow } from './fact-row.js';
import { googleFacts } from './google-facts.js';
import { openAiFacts } from './openai-facts.js';
import { otherFacts } from './other-facts.js';

/*
 * What can be known of a model by its name, in one table. Prices are not here: operators set them. A new model needs a row
 * only where its family's is wrong for it, before that of the family.
 */

/** The first row that states a fact decides it. */
const rows: readonly FactRow[] = [...openAiFacts, ...anthropicFacts, ...googleFacts, ...otherFacts];

/** Of a model of which nothing is known. */
const unknown: ModelFacts = {
  limits: null,
  inputLimit: null,
  separateThinking: { max: 131_072, when: 'if-asked', budgeted: true },
  separateEverywhere: false,
  thinksUnasked: false,
  startsSlowly: false,
  searchesAlways: false,
  searchesUnasked: false,
  readsWhatItFinds: false,
  searchesByPrompt: false,
  retires: null,
  embeds: false,
  reranks: false,
  moderates: false,
  testLimit: { max_tokens: 10 },
  pictures: null,
  soundTokensPerSecond: 10,
  audioPrice: null,
  transcribesByToken: false,
  speaksByCharacter: false,
  drawsByToken: null,
  drawsInHd: false,
  encoding: 'cl100k_base',
  hasOwnEncoding: false,
  messageTokens: { message: 3, name: 1 },
  isOpenAi: false,
  paysForCacheWrites: true,
  lastingCacheWrite: '1.6',
  takesReasoningParameters: false,
  samplesUnthinking: false,
  takesTemperature: true,
  instructionsAs: 'developer',
  takesEffort: true,
  minEffort: null,
  highestIsHigh: false,
  knowsMaxEffort: false,
  effortSuffixOf: null,
  refusesStops: false,
  refusesEffort: false,
  thinksInStreamsOnly: false,
  wantsAllReasoning: false,
  isClaude: false,
  // Behind an interface like Anthropic's: nobody has said what it refuses.
  messages: { thinking: 'adaptive', budgeted: false, sampling: 'any', schemas: true },
  cachesFrom: null,
  alwaysThinks: false,
  takesThinking: true,
  thinksByLevel: false,
  thinkingRange: { min: 0, max: 24_576, refusable: true },
  minThinkingLevel: 'minimal',
  knowsXhighLevel: false,
  takesInstructions: true,
  drawsOnly: false,
  drawsToo: false,
};

function foundIn(model: string): ModelFacts {
  const name = model.slice(model.lastIndexOf('/') + 1);
  const matching = rows.filter(({ names, whole }) => names.test(whole ? model : name));
  return Object.assign({}, unknown, ...matching.reverse().map(({ facts }) => facts));
}

const maxRemembered = 4_096;
const remembered = new Map<string, ModelFacts>();

export function factsOf(model: string): ModelFacts {
  const known = remembered.get(model);
  if (known !== undefined) return known;
  const facts = foundIn(model);
  // Names come from callers: emptied rather than allowed to grow.
  if (remembered.size >= maxRemembered) remembered.clear();
  remembered.set(model, facts);
  return facts;
}

/** Every way that some model counts pictures. */
export const pictureTokensKnown: readonly PictureTokens[] = rows.flatMap(({ facts: { pictures } }) => pictures ?? []);
