import { jsonText } from '../../json/exact-number.js';
import { isList, type JsonObject, type JsonValue, objectsIn } from '../../json/json.js';

/*
 * A call of a function whose arguments come piece by piece: each names the place of its value by a path such as
 * `$.steps[2].text`, and texts go on from one piece to the next.
 */

/** Beyond these the call is not one that a model makes. */
const deepest = 64;
const maxPieces = 65_536;
const maxListLength = 65_536;

type Step = string | number;

/** null: no path, or one that leads too far. */
function stepsIn(path: JsonValue | undefined): Step[] | null {
  if (typeof path !== 'string' || !path.startsWith('$')) return null;
  const steps: Step[] = [];
  const step = /\.([^.[\]]+)|\[(\d{1,6})\]|\['([^']*)'\]|\["([^"]*)"\]/y;
  for (step.lastIndex = 1; step.lastIndex < path.length; ) {
    const found = step.exec(path);
    if (found === null || steps.length === deepest) return null;
    const [, member, index, quoted, doubled] = found;
    const segment = index === undefined ? (member ?? quoted ?? doubled ?? '') : Number(index);
    if (typeof segment === 'number' && segment >= maxListLength) return null;
    steps.push(segment);
  }
  return steps.length > 0 ? steps : null;
}

const valueIn = (piece: JsonObject): JsonValue | undefined => {
  const { stringValue, numberValue, boolValue } = piece;
  return stringValue ?? numberValue ?? boolValue ?? ('nullValue' in piece ? null : undefined);
};

type Holder = Map<Step, JsonValue | Holder | undefined>;

const isHolder = (value: unknown): value is Holder => value instanceof Map;

/** Holders of numbers are lists. */
const written = (value: JsonValue | Holder | undefined): JsonValue => {
  if (!isHolder(value)) return value ?? null;
  const [first] = value.keys();
  if (typeof first !== 'number')
    return Object.fromEntries([...value].map(([name, one]) => [String(name), written(one)]));
  const list: JsonValue[] = [];
  for (const [at, one] of value) if (typeof at === 'number') list[at] = written(one);
  return Array.from(list, (one) => one ?? null);
};

export class PartialCall {
  private readonly values: Holder = new Map();
  private pieces = 0;

  constructor(
    readonly id: string,
    readonly index: number,
  ) {}

  /** False: there is no end to it, or no sense in it. */
  add(pieces: JsonValue | undefined): boolean {
    if (!isList(pieces)) return true;
    for (const piece of objectsIn(pieces)) if (++this.pieces > maxPieces || !this.put(piece)) return false;
    return true;
  }

  /** The text of the arguments. */
  arguments(): string {
    return jsonText(written(this.values));
  }

  private put(piece: JsonObject): boolean {
    const steps = stepsIn(piece.jsonPath);
    const value = valueIn(piece);
    const last = steps?.pop();
    if (steps === null || last === undefined) return false;
    let holder = this.values;
    for (const step of steps) {
      const known = holder.get(step);
      const next: Holder = isHolder(known) ? known : new Map();
      holder.set(step, next);
      holder = next;
    }
    const before = holder.get(last);
    holder.set(last, typeof before === 'string' && typeof value === 'string' ? before + value : value);
    return true;
  }
}
