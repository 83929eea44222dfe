import type { JsonObject } from '../../json/json.js';
import { carried, type JsonSource } from '../../protocols/carried.js';

/** A member of an object as it is written. It must be there, once. */
export function memberText(source: JsonSource, name: string): string {
  const alone = carried(source, { [name]: source.value[name] } as JsonObject);
  return alone.slice(alone.indexOf(':') + 1, alone.lastIndexOf('}')).trim();
}
