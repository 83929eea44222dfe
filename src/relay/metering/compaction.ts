import { isObject, type JsonObject, objectsIn, textIn } from '../json/json.js';

/**
 * A provider may sum a long conversation up before it answers: it reads the prompt once more and puts a summary out,
 * which no limit to the answer counts.
 */
export const compacts = ({ compaction, context_management: management }: JsonObject): boolean =>
  isObject(compaction) ||
  objectsIn(isObject(management) ? management.edits : management).some(({ type }) =>
    /^compact/.test(textIn(type) ?? ''),
  );

/** Tokens that a summary seldom exceeds; at the most it is as long as the model's answers get. */
export const usualSummary = 8_192;
