import { randomUUID } from 'node:crypto';

/*
 * A number of a JSON text that is written otherwise once a double has carried it: beyond 2^53, with more decimals than
 * fit, out of range, or `1.0` and `-0`. It keeps its own digits, and is written with them.
 */

/** Nobody outside knows it: no text of a caller's is taken for a number. */
const mark = `number-${randomUUID()}:`;
const marked = new RegExp(`"${mark}([^"]*)"`, 'g');

let writing = false;
let written = false;

export class ExactNumber {
  constructor(readonly text: string) {}

  /** As near as a double comes. */
  get value(): number {
    return Number(this.text);
  }

  /** Called by JSON.stringify, which has no other way to take a number. */
  toJSON(): string | number {
    if (!writing) return this.value;
    written = true;
    return mark + this.text;
  }
}

/** As JSON, with the digits of exact numbers. Throws as JSON.stringify does. */
export function jsonText(value: unknown): string {
  writing = true;
  written = false;
  try {
    const text = JSON.stringify(value);
    return written ? text.replace(marked, '$1') : text;
  } finally {
    writing = false;
  }
}
