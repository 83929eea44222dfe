import { type JsonObject, textIn } from '../../json/json.js';

/**
 * What this server reports as tokens are characters. Infinity, by the name it gives its answers
 * (https://github.com/michaelfeil/infinity, seen at 0.0.78).
 */
export const countsCharacters = ({ id }: JsonObject): boolean => textIn(id)?.startsWith('infinity-') ?? false;
