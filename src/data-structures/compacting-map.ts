/*
 * A map for entries of which many come and go and few are there at a time. V8's own Map then makes table after table,
 * and an old one keeps all later ones alive (docs/decisions/0070-short-lived-entries.md). Here entries that have gone
 * leave their place empty, and a new map takes over before there are many of those.
 */

/** Empty places that are borne in any case; beyond them, three for every entry. */
const fewPlaces = 8;

/** `undefined` is no value: it marks what has gone. Keys of some entries that have gone are still referred to. */
export class CompactingMap<Key extends string | number, Value extends object | string | number | boolean> {
  private places = new Map<Key, Value | undefined>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  has(key: Key): boolean {
    return this.places.get(key) !== undefined;
  }

  get(key: Key): Value | undefined {
    return this.places.get(key);
  }

  set(key: Key, value: Value): void {
    if (!this.has(key)) this.count++;
    this.places.set(key, value);
  }

  /** false: there was no such entry. */
  delete(key: Key): boolean {
    if (!this.has(key)) return false;
    this.places.set(key, undefined);
    this.count--;
    const { size } = this.places;
    if (size > fewPlaces && size > this.count * 4) this.places = new Map(this);
    return true;
  }

  /** In the order in which their places were first taken. What is deleted meanwhile does not come. */
  *[Symbol.iterator](): Generator<[Key, Value], void, undefined> {
    // Another map may have taken over since.
    for (const key of this.places.keys()) {
      const value = this.places.get(key);
      if (value !== undefined) yield [key, value];
    }
  }
}
