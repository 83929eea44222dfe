import { maxChoices } from '../../contracts/protocol.js';
import { isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { JsonEnd } from '../../json/json-end.js';

/*
 * Which tool call a piece of a stream belongs to. OpenAI numbers its calls and gives each an id with its first piece.
 * Others number two calls alike, or none, or repeat ids and names: their pieces are put into OpenAI's form here, so that
 * whoever reads on needs the number alone.
 */

/** Of all choices of an answer; whoever sends more sends without end, and is passed on as it comes. */
const maxCalls = 4096;
/** Longer ids and names are not remembered. */
const maxTextLength = 256;

interface Call {
  /** Upstream's number of it, as text; null: it gave none. */
  readonly reportedIndex: string | null;
  /** The number that it goes by here. */
  readonly index: number;
  /** Upstream's, which another call may have, too. */
  readonly id: string | null;
  readonly name: string;
  /** Whether its arguments are whole. */
  readonly end: JsonEnd;
}

const numberIn = (value: JsonValue | undefined): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

/** What numbers a call: whatever distinguishes them, a text or a number below 0 as well. */
const indexText = (value: JsonValue | undefined): string | null =>
  typeof value === 'number' ? String(value) : remembered(value);

const remembered = (value: JsonValue | undefined): string | null => textIn(value)?.slice(0, maxTextLength) ?? null;

export class CallNumbers {
  private readonly choices = new Map<number, Call[]>();
  private calls = 0;

  /** Numbers the pieces of one chunk, in place; true when something was changed. */
  number(choice: JsonValue | undefined, toolCalls: JsonValue): boolean {
    const key = numberIn(choice) ?? 0;
    let known = this.choices.get(key);
    if (known === undefined) {
      if (this.choices.size === maxChoices) return false;
      known = [];
      this.choices.set(key, known);
    }
    let changed = false;
    const pieces = objectsIn(toolCalls);
    for (const [position, piece] of pieces.entries()) {
      const called = isObject(piece.function) ? piece.function : {};
      const nth = pieces.length > 1 ? position : null;
      if (this.piece(known, piece, called, nth)) changed = true;
    }
    return changed;
  }

  private piece(known: Call[], piece: JsonObject, called: JsonObject, position: number | null): boolean {
    const name = remembered(called.name);
    const before = name === null ? goesOnUnnamed(known, piece, position) : goesOnNamed(known, piece, name);
    if (before === undefined && (name === null || this.calls >= maxCalls)) return false;
    const call = before ?? this.begun(known, piece, String(name));
    if (typeof called.arguments === 'string') call.end.add(called.arguments);
    const numbered = renumbered(piece, call);
    return before === undefined ? withOwnId(known, call, piece) || numbered : unrepeated(piece, called) || numbered;
  }

  private begun(known: Call[], piece: JsonObject, name: string): Call {
    // Clients keep them in a list: there are no gaps.
    const call: Call = {
      reportedIndex: indexText(piece.index),
      index: known.length,
      id: remembered(piece.id),
      name,
      end: new JsonEnd(),
    };
    known.push(call);
    this.calls++;
    return call;
  }
}

/** By number and id, by either, else the newest; of several in one chunk the one at its place. */
function goesOnUnnamed(known: readonly Call[], piece: JsonObject, position: number | null): Call | undefined {
  const index = indexText(piece.index);
  const id = remembered(piece.id);
  return (
    known.findLast((call) => id !== null && call.id === id && (index === null || call.reportedIndex === index)) ??
    known.findLast((call) => index !== null && call.reportedIndex === index) ??
    known.findLast((call) => id !== null && call.id === id) ??
    (position === null ? known.at(-1) : known[position])
  );
}

/** A name begins a call, or is repeated with its pieces. */
function goesOnNamed(known: readonly Call[], piece: JsonObject, name: string): Call | undefined {
  const index = indexText(piece.index);
  const id = remembered(piece.id);
  const open = ({ end }: Call): boolean => end.begun && !end.reached;
  const same = known.filter((call) => call.name === name);
  if (id !== null) {
    const numbered = index === null ? same : same.filter((call) => call.reportedIndex === index);
    return (
      numbered.findLast((call) => call.id === id) ??
      same.findLast((call) => call.id === id && open(call)) ??
      // A new id with every piece: only in the middle of its arguments can a call be the same one.
      numbered.findLast((call) => index !== null && open(call))
    );
  }
  const last = index === null ? known.at(-1) : known.findLast((call) => call.reportedIndex === index);
  return last !== undefined && last.name === name && !last.end.reached ? last : undefined;
}

function renumbered(piece: JsonObject, { index }: Call): boolean {
  if (piece.index === index) return false;
  piece.index = index;
  return true;
}

/** Who runs the calls matches their results by their ids. */
function withOwnId(known: readonly Call[], call: Call, piece: JsonObject): boolean {
  const { id, index } = call;
  if (id === null || known.every((other) => other === call || other.id !== id)) return false;
  piece.id = `${id}_${index}`;
  return true;
}

/** Clients put pieces together by adding them up, ids and names too. */
function unrepeated(piece: JsonObject, called: JsonObject): boolean {
  const repeats = textIn(piece.id) !== null || textIn(called.name) !== null;
  if (!repeats) return false;
  delete piece.id;
  delete called.name;
  return true;
}
