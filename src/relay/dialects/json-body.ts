import { StringDecoder } from 'node:string_decoder';
import type { RelayError } from '../contracts/errors.js';
import { isObject, type JsonObject, parseJson } from '../json/json.js';
import { membersIn, repeatedMember } from '../json/json-members.js';
import { JsonShape, type ShapeExcess } from '../json/json-shape.js';
import type { JsonSource } from '../protocols/carried.js';
import { type BodySink, invalidBody } from './body-sink.js';
import { Utf8Check } from './utf8-check.js';

/* A body that is a JSON object. */

/** Deep enough for the schema of any tool; whatever walks over a body is safe at it. */
const deepest = 128;
/** Names, values and brackets: three times the token ids that the largest embedding request may hold. */
const maxParts = 1_000_000;

const maxNameShown = 100;

const misshapen: Readonly<Record<ShapeExcess, string>> = {
  'too-deep': `the body is nested more than ${deepest} deep`,
  'too-many-parts': `the body holds more than ${maxParts} names and values`,
};

/** Nobody could say what it costs: each reader replaces such bytes in a way of its own. */
const notUtf8 = (): RelayError => invalidBody('the body is not UTF-8 text');

/** `names`: of members, as many as stand in the text. Throws RelayError. */
function* objectIn(text: string, names: number): Generator<void, JsonObject> {
  const value = parseJson(text);
  if (!isObject(value)) throw invalidBody('the body is not a JSON object');
  yield;
  if (membersIn(value) === names) return value;
  const repeated = (repeatedMember(text) ?? '').slice(0, maxNameShown);
  throw invalidBody(`${repeated} stands twice in one object`, repeated);
}

export class JsonBody implements BodySink {
  /** Decoded while they come: a large body decoded as a whole would hold up everybody, and be in memory twice. */
  private readonly texts: string[] = [];
  /** Most bodies come in one piece, and need none. */
  private decoder: StringDecoder | null = null;
  private first: Buffer | null = null;
  private readonly shape = new JsonShape({ depth: deepest, parts: maxParts });
  private readonly utf8 = new Utf8Check();

  take(piece: Buffer): RelayError | null {
    const misshape = this.shape.take(piece);
    if (misshape !== null) return invalidBody(misshapen[misshape]);
    if (!this.utf8.take(piece)) return notUtf8();
    if (this.first === null && this.decoder === null) this.first = piece;
    else this.decode(piece);
    return null;
  }

  /** Yields where others may have the process. Throws RelayError. */
  *read(): Generator<void, JsonSource> {
    if (!this.utf8.isWhole) throw notUtf8();
    const rest = this.decoder === null ? (this.first?.toString() ?? '') : this.decoder.end();
    if (rest !== '') this.texts.push(rest);
    const text = this.texts.length === 1 ? (this.texts[0] ?? '') : this.texts.join('');
    yield;
    return { text, value: yield* objectIn(text, this.shape.names) };
  }

  private decode(piece: Buffer): void {
    this.decoder ??= new StringDecoder('utf8');
    if (this.first !== null) this.texts.push(this.decoder.write(this.first));
    this.first = null;
    this.texts.push(this.decoder.write(piece));
  }
}
