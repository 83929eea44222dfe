import { isObject, type JsonObject } from '../json/json.js';

/**
 * A body in neutral words asks for no thinking, or for the least there is: across wires that is the least that the model
 * at the other end accepts, for what one model calls minimal another does not know.
 */
export const declinesThinking = ({ thinking, reasoning_effort: effort }: JsonObject): boolean =>
  isObject(thinking) ? thinking.type === 'disabled' : effort === 'none' || effort === 'minimal';
