import { sameJson } from '../kernel/same-json.js';

/*
 * Older clients write a whole map back to change one entry of it. What they have only copied goes on following the
 * built-in table, its dates and its next release; what somebody has changed or left out is pinned.
 */

/** The map that is built in now, and as the writer has seen it; both as JSON. */
export interface BuiltInMap {
  readonly now: string;
  readonly seen: string;
}

/** A map as an operator has stored it. `pinned`: names whose entry, or lack of one, holds; left out: all names. */
export interface StoredMap {
  readonly text: string;
  readonly pinned?: readonly string[];
}

interface MapWrite {
  readonly text: string;
  /** null: nobody had changed the map. */
  readonly before: StoredMap | null;
  readonly builtIn: BuiltInMap;
  /** Whether what the map says of this name is only what its record says. */
  readonly isRecorded: (name: string) => boolean;
}

const entriesOf = (text: string): Map<string, unknown> => new Map(Object.entries(JSON.parse(text) as object));

/** Sorted. An entry that is changed to what is built in follows it again. */
export function pinnedEntries({ text, before, builtIn, isRecorded }: MapWrite): string[] {
  const written = entriesOf(text);
  const stored = entriesOf(before?.text ?? '{}');
  const [now, seen] = [entriesOf(builtIn.now), entriesOf(builtIn.seen)];
  const pinnedBefore = new Set(before?.pinned ?? []);
  const isPinned = (name: string): boolean => {
    if (isRecorded(name)) return pinnedBefore.has(name) || (before?.pinned === undefined && stored.has(name));
    const entry = written.get(name);
    if (pinnedBefore.has(name) && sameJson(entry, stored.get(name))) return true;
    return !sameJson(entry, now.get(name)) && !sameJson(entry, seen.get(name));
  };
  const names = new Set([...written.keys(), ...stored.keys(), ...now.keys(), ...pinnedBefore]);
  return [...names].filter(isPinned).sort();
}

/** What the map holds now. The stored text itself where that says the same. */
export function mapInForce({ text, pinned }: StoredMap, builtIn: string): string {
  if (pinned === undefined) return text;
  const stored = entriesOf(text);
  const entries = entriesOf(builtIn);
  for (const name of pinned) {
    const entry = stored.get(name);
    if (entry === undefined) entries.delete(name);
    else entries.set(name, entry);
  }
  const isStored =
    entries.size === stored.size && [...entries].every(([name, entry]) => sameJson(entry, stored.get(name)));
  return isStored ? text : JSON.stringify(Object.fromEntries(entries));
}
