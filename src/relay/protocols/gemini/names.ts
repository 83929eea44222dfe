import { isObject, type JsonObject, type JsonValue, objectsIn } from '../../json/json.js';

/* Gemini's members may be spelled `likeThis` or `like_this`: Google's interfaces take both. */

const snakes = new Map<string, string>();

const snakeOf = (name: string): string => {
  const known = snakes.get(name);
  if (known !== undefined) return known;
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  snakes.set(name, snake);
  return snake;
};

/** However it was spelled, as it is spelled `likeThis`. */
export const camelOf = (name: string): string =>
  name.replace(/_+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** `name`: as it is spelled `likeThis`; written in the code, never a caller's. undefined: it is missing, or null. */
export const memberIn = (holder: JsonObject, name: string): JsonValue | undefined =>
  holder[name] ?? holder[snakeOf(name)] ?? undefined;

/** null: it is missing, or no object. */
export function objectIn(holder: JsonObject, name: string): JsonObject | null {
  const member = memberIn(holder, name);
  return isObject(member) ? member : null;
}

/** The holder with this member, however it was spelled before. */
export function withMember(holder: JsonObject, name: string, value: JsonValue): JsonObject {
  const { [snakeOf(name)]: _, ...rest } = holder;
  return { ...rest, [name]: value };
}

/** The holder without it, however it is spelled. */
export function withoutMember(holder: JsonObject, name: string): JsonObject {
  const { [snakeOf(name)]: _, [name]: __, ...rest } = holder;
  return rest;
}

/** The parts of a content; a content may be a list of parts, or a text. Google takes one part for a list of one. */
export function partsIn(content: JsonValue | undefined): JsonObject[] {
  if (typeof content === 'string') return [{ text: content }];
  const parts = isObject(content) ? content.parts : content;
  return isObject(parts) ? [parts] : objectsIn(parts);
}
