import { NotConvertible } from '../../contracts/protocol.js';
import { jsonText } from '../../json/exact-number.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';

/*
 * JSON Schema as Gemini's `Schema` knows it: references are put where they point, alternatives become `anyOf`, and what
 * has no place there is left out.
 */

/** Whatever references make of a schema: each may double it. */
const maxSchemas = 4_096;

const plainMembers = [
  'description',
  'nullable',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
  'propertyOrdering',
] as const;

const textFormats = new Set<unknown>(['enum', 'date-time']);

const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : jsonText(value));

class Cleaning {
  private schemas = 0;

  constructor(
    private readonly root: JsonObject,
    /** Of the member, for whoever gave it. */
    private readonly name: string,
  ) {}

  /** `within`: the references that are being followed. */
  schema(given: JsonValue | undefined, within: readonly string[]): JsonObject {
    if (++this.schemas > maxSchemas)
      throw new NotConvertible('caller', `${this.name} is larger than ${maxSchemas} schemas, references followed`);
    // true: anything.
    if (!isObject(given)) return {};
    const reference = textIn(given.$ref);
    if (reference !== null) return this.referenced(given, reference, within);
    const merged = this.withAllOf(given, within);
    const clean: JsonObject = {};
    for (const member of plainMembers) if (merged[member] !== undefined) clean[member] = merged[member];
    this.type(clean, merged, within);
    this.values(clean, merged);
    if (clean.type === 'object') this.properties(clean, merged, within);
    // A list of what is not said is refused.
    if (clean.type === 'array')
      clean.items = merged.items === undefined ? { type: 'string' } : this.schema(merged.items, within);
    return clean;
  }

  private referenced(given: JsonObject, reference: string, within: readonly string[]): JsonObject {
    const { $ref: _, ...siblings } = given;
    // What holds itself cannot be written out: from there on it is any object.
    if (within.includes(reference)) return this.schema({ type: 'object', ...siblings }, within);
    const target = this.target(reference);
    return this.schema({ ...target, ...siblings }, [...within, reference]);
  }

  private target(reference: string): JsonObject {
    let found: JsonValue | undefined = this.root;
    for (const step of reference
      .replace(/^#\/?/, '')
      .split('/')
      .filter((part) => part !== '')) {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
      found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
    }
    if (reference.startsWith('#') && isObject(found)) return found;
    throw new NotConvertible(
      'caller',
      `${this.name} refers to a schema that it does not hold: ${reference.slice(0, 100)}`,
    );
  }

  /** All of them at once are one schema. */
  private withAllOf(given: JsonObject, within: readonly string[]): JsonObject {
    const parts = objectsIn(given.allOf);
    if (parts.length === 0) return given;
    const { allOf: _, ...merged } = given;
    for (const part of parts) {
      const { properties, required, ...rest } = this.schema(part, within);
      Object.assign(merged, { ...rest, ...merged });
      if (isObject(properties))
        merged.properties = { ...properties, ...(isObject(merged.properties) && merged.properties) };
      if (isList(required)) merged.required = [...(isList(merged.required) ? merged.required : []), ...required];
    }
    return merged;
  }

  private type(
    clean: JsonObject,
    { type, anyOf, oneOf, properties, items }: JsonObject,
    within: readonly string[],
  ): void {
    const types = (isList(type) ? type : [type]).flatMap((one) => textIn(one)?.toLowerCase() ?? []);
    const kinds = types.filter((one) => one !== 'null');
    const [kind = properties !== undefined ? 'object' : items !== undefined ? 'array' : null] = kinds;
    const choices = [...objectsIn(anyOf), ...objectsIn(oneOf)];
    const real = choices.filter((choice) => choice.type !== 'null');
    if (kinds.length < types.length || real.length < choices.length) clean.nullable = true;
    if (real.length === 1) {
      for (const [name, value] of Object.entries(this.schema(real[0], within))) clean[name] ??= value;
      return;
    }
    if (real.length > 1) clean.anyOf = real.map((choice) => this.schema(choice, within));
    else if (kinds.length > 1) clean.anyOf = kinds.map((one) => this.schema({ items, properties, type: one }, within));
    else if (kind !== null) clean.type = kind;
  }

  /** Only texts can be chosen among. */
  private values(clean: JsonObject, { enum: listed, const: constant, format }: JsonObject): void {
    const values = isList(listed) ? listed : constant === undefined ? null : [constant];
    if (values !== null) {
      clean.enum = values.filter((value) => value !== null).map(textOf);
      if (values.includes(null)) clean.nullable = true;
      clean.type = 'string';
    }
    if (format !== undefined && (clean.type !== 'string' || textFormats.has(format))) clean.format = format;
  }

  private properties(clean: JsonObject, { properties, required }: JsonObject, within: readonly string[]): void {
    if (!isObject(properties) || Object.keys(properties).length === 0) return;
    const named = Object.entries(properties).map(([name, one]) => [name, this.schema(one, within)] as const);
    clean.properties = Object.fromEntries(named);
    const known = isList(required)
      ? required.filter((name) => typeof name === 'string' && Object.hasOwn(properties, name))
      : [];
    if (known.length > 0) clean.required = [...new Set(known)];
  }
}

/** `name`: of the member it stands in. Throws NotConvertible. */
export const geminiSchema = (schema: JsonObject, name: string): JsonObject =>
  new Cleaning(schema, name).schema(schema, []);
