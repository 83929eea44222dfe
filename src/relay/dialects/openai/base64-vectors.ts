import { type JsonObject, objectsIn } from '../../json/json.js';

const isVector = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((number) => typeof number === 'number');

/** Little-endian 32-bit floats in base64, as OpenAI's clients ask for by default. */
const base64Of = (vector: readonly number[]): string => {
  const bytes = Buffer.allocUnsafe(vector.length * 4);
  vector.forEach((number, at) => void bytes.writeFloatLE(number, at * 4));
  return bytes.toString('base64');
};

/** Encodes vectors an upstream sent as numbers although base64 was asked for. In place; true when there were some. */
export function withBase64Vectors(list: JsonObject): boolean {
  let changed = false;
  for (const item of objectsIn(list.data)) {
    if (!isVector(item.embedding)) continue;
    item.embedding = base64Of(item.embedding);
    changed = true;
  }
  return changed;
}
