/* JSON that was right, spoilt in a few places: by a number, so that the same number spoils the same way. */

/** Numbers from 0 to 1, the same for the same seed. */
export type Random = () => number;

export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const pick = <Value>(random: Random, from: readonly Value[]): Value => {
  const found = from[Math.floor(random() * from.length)];
  if (found === undefined) throw new Error('there is nothing to pick from');
  return found;
};

/** A number as it is to stand in the text: JavaScript would write many of them otherwise. */
const digits = (text: string): string => `@digits:${text}@`;
/** The same name once more in one object, which no JavaScript object can hold. */
const again = '@again';

/** JSON with the digits and repeated names that were meant. */
export const jsonOf = (value: unknown): string =>
  (JSON.stringify(value) ?? 'null').replace(/"@digits:([^"@]*)@"/g, '$1').replace(/@again":/g, '":');

const oddDigits = [
  ...['9007199254740993', '2512292042121000001', '18446744073709551616', '1e400', '-1e400', '1e-400', '-0', '0'],
  ...['1.0', '0.5', '-1', '-9223372036854775808', '1E2', '123456789012345678901234567890.5'],
] as const;
const oddIds = [
  '',
  'x'.repeat(66),
  'y'.repeat(300),
  'call/1?é#',
  'call_1',
  'call_1',
  'функция',
  '__proto__',
  ' ',
] as const;
const oddFinishes = [
  ...['stop', 'length', 'tool_calls', 'content_filter', 'error', 'network_error', 'insufficient_system_resource'],
  ...['end_turn', 'tool_use', 'max_tokens', 'refusal', 'pause_turn', 'STOP', 'MAX_TOKENS', 'SAFETY', 'OTHER'],
  ...['MALFORMED_FUNCTION_CALL', 'eos', 'unheard_of', '', 'constructor'],
] as const;
const oddValues: readonly unknown[] = [
  ...[null, null, null, null, true, '', [], {}, [null], 'text', '\ud800', '\0', { deep: [[[null]]] }],
  ...['__proto__', 'x'.repeat(5_000), 7],
];

type Place = { readonly owner: Record<string, unknown>; readonly name: string };

/** Every member of every object and list. A list is an object whose names are numbers. */
function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  const owner = value as Record<string, unknown>;
  return Object.keys(owner).flatMap((name) => [{ owner, name }, ...placesIn(owner[name])]);
}

const otherSpelling = (name: string): string =>
  name.includes('_')
    ? name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
    : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** What stands at a place decides what is odd there. */
function spoil({ owner, name }: Place, random: Random): void {
  const value = owner[name];
  const chance = random();
  if (Array.isArray(owner)) {
    if (chance < 0.4) owner[name] = pick(random, oddValues);
    else if (chance < 0.7) owner.splice(Number(name), 0, pick(random, [null, structuredClone(value)]));
    else owner.splice(Number(name), 1);
    return;
  }
  if (chance < 0.3) owner[name] = pick(random, oddValues);
  else if (chance < 0.6 && typeof value === 'number') owner[name] = digits(pick(random, oddDigits));
  else if (chance < 0.6 && /^(id|.*_id|callId|signature)$/.test(name)) owner[name] = pick(random, oddIds);
  else if (chance < 0.7 && /finish|stop_reason|blockReason/i.test(name)) owner[name] = pick(random, oddFinishes);
  else if (chance < 0.75) Reflect.deleteProperty(owner, name);
  else if (chance < 0.8) owner[`${name}${again}`] = pick(random, [structuredClone(value), null, 1]);
  else if (chance < 0.85) owner[otherSpelling(name)] = structuredClone(value);
  else if (chance < 0.88) owner[name.toUpperCase()] = structuredClone(value);
  else if (chance < 0.94) owner[name] = [structuredClone(value)];
  else owner[name] = digits(pick(random, oddDigits));
}

/** A copy that is odd in so many places. */
export function spoilt<Value>(value: Value, random: Random, times: number): Value {
  const copy = structuredClone(value);
  for (let time = 0; time < times; time++) {
    const places = placesIn(copy);
    if (places.length === 0) continue;
    const place = pick(random, places);
    // The commonest oddity there is: null for a member, and nothing else wrong.
    if (times === 1 && random() < 0.4) place.owner[place.name] = null;
    else spoil(place, random);
  }
  return copy;
}
