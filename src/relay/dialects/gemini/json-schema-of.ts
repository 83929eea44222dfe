import { isObject, type JsonObject, type JsonValue, objectsIn } from '../../json/json.js';
import { memberIn } from '../../protocols/gemini/names.js';

/* Gemini's `Schema` as the JSON Schema it stands for. */

/** What means the same in both. */
const kept = [
  'title',
  'description',
  'format',
  'enum',
  'required',
  'pattern',
  'minimum',
  'maximum',
  'default',
  'example',
];
const renamed = ['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'];

const typeOf = (given: JsonValue | undefined, nullable: boolean): JsonValue | undefined => {
  if (typeof given !== 'string' || given === 'TYPE_UNSPECIFIED') return undefined;
  const type = given.toLowerCase();
  return nullable ? [type, 'null'] : type;
};

/** Bodies are nested so deeply at most that this ends. */
export function jsonSchemaOf(schema: JsonObject): JsonObject {
  const made: JsonObject = {};
  const type = typeOf(schema.type, schema.nullable === true);
  if (type !== undefined) made.type = type;
  for (const name of kept)
    if (schema[name] !== undefined)
      made[name === 'example' ? 'examples' : name] = name === 'example' ? [schema[name] ?? null] : schema[name];
  for (const name of renamed) {
    const bound = memberIn(schema, name);
    // 64-bit numbers may be texts.
    if (bound !== undefined) made[name] = typeof bound === 'string' ? Number(bound) : bound;
  }
  const { properties, items } = schema;
  const anyOf = memberIn(schema, 'anyOf');
  if (isObject(properties))
    made.properties = Object.fromEntries(
      Object.entries(properties).map(([name, one]) => [name, isObject(one) ? jsonSchemaOf(one) : {}]),
    );
  if (isObject(items)) made.items = jsonSchemaOf(items);
  if (anyOf !== undefined) made.anyOf = objectsIn(anyOf).map(jsonSchemaOf);
  return made;
}
