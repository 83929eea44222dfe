import { isObject, type JsonObject, objectsIn, textIn } from '../json/json.js';
import { mediaIn } from './media-tokens.js';

/* What an event of a realtime client brings into the conversation: words, and pictures and sound that stand in it. */

export interface RealtimeInput {
  /** Of the event, but for pictures and sound. */
  readonly bytes: number;
  /** Characters of sound, in base64. */
  readonly sound: number;
  /** Tokens of pictures: likely, and at most. */
  readonly pictures: { readonly expected: number; readonly max: number };
}

/** Items that the event names: one of the conversation, or those that a response takes in instead of it. */
function itemsIn({ item, response }: JsonObject): JsonObject[] {
  const items = isObject(response) ? objectsIn(response.input) : [];
  return isObject(item) ? [item, ...items] : items;
}

/** `bytes`: of the event. `models`: its model as asked for, and as it is called upstream. */
export function realtimeInput(event: JsonObject, bytes: number, models: readonly [string, string]): RealtimeInput {
  const names = new Set(models);
  let characters = 0;
  let sound = 0;
  const pictures = { expected: 0, max: 0 };
  for (const part of itemsIn(event).flatMap(({ content }) => objectsIn(content))) {
    if (part.type === 'input_audio') sound += textIn(part.audio)?.length ?? 0;
    if (part.type !== 'input_image') continue;
    const counted = mediaIn(models[0], names, part);
    if (counted === null) continue;
    characters += counted.characters;
    pictures.expected += counted.expected;
    pictures.max += counted.max;
  }
  return { bytes: Math.max(bytes - characters - sound, 0), sound, pictures };
}
