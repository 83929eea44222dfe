/*
 * A map for entries of which many come and go and few are there at a time. V8's own Map then makes table after table,
 * and an old one keeps all later ones alive (docs/decisions/0070-short-lived-entries.md). Here entries that have gone
 * leave their slot empty, and a new map takes over before there are many of those.
 */

/** Empty slots that are accepted in any case; beyond them, three for every entry. */
const fewSlots = 8;

/** `undefined` is no value: it marks what has gone. Keys of some entries that have gone are still referred to. */
export class CompactingMap<Key extends string | number, Value extends object | string | number | boolean> {
  private slots = new Map<Key, Value | undefined>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  has(key: Key): boolean {
    return this.slots.get(key) !== undefined;
  }

  get(key: Key): Value | undefined {
    return this.slots.get(key);
  }

  set(key: Key, value: Value): void {
    if (!this.has(key)) this.count++;
    this.slots.set(key, value);
  }

  /** false: there was no such entry. */
  delete(key: Key): boolean {
    if (!this.has(key)) return false;
    this.slots.set(key, undefined);
    this.count--;
    const { size } = this.slots;
    if (size > fewSlots && size > this.count * 4) this.slots = new Map(this);
    return true;
  }

  /** In the order in which their slots were first taken. What is deleted meanwhile does not come. */
  *[Symbol.iterator](): Generator<[Key, Value], void, undefined> {
    // Another map may have taken over since.
    for (const key of this.slots.keys()) {
      const value = this.slots.get(key);
      if (value !== undefined) yield [key, value];
    }
  }
}
