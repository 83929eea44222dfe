import { isUtf8 } from 'node:buffer';
import { checkWellFormed } from '../../domain/kernel/bounds.js';
import { Failure, invalidField } from '../../domain/kernel/failure.js';

/** Each names something an order is carried out on. */
const maxIntegers = 1000;

/**
 * A JSON object as legacy clients send it: names match in any case, null is as good as absent, members nobody asks for
 * are ignored. Types are strict: `"5"` is not 5. A reader returns undefined for an absent member and throws
 * `invalid-field` for one of the wrong type.
 */
export class Body {
  private constructor(private readonly members: ReadonlyMap<string, unknown>) {}

  /** Throws `invalid-body` unless the bytes are a JSON object. */
  static parse(bytes: unknown): Body {
    if (Buffer.isBuffer(bytes) && !isUtf8(bytes)) throw new Failure('invalid-body', { allowed: 'UTF-8 text' });
    const value = parsed(Buffer.isBuffer(bytes) ? bytes.toString('utf8') : '');
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Failure('invalid-body');
    return new Body(new Map(Object.entries(value).map(([name, member]) => [name.toLowerCase(), member])));
  }

  text(name: string): string | undefined {
    const value = this.member(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'string') throw invalidField(name, 'text');
    checkWellFormed(name, value);
    return value;
  }

  number(name: string): number | undefined {
    const value = this.member(name);
    if (value !== undefined && typeof value !== 'number') throw invalidField(name, 'a number');
    return value;
  }

  integer(name: string): number | undefined {
    const value = this.member(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw invalidField(name, 'an integer');
    return value === 0 ? 0 : value;
  }

  flag(name: string): boolean | undefined {
    const value = this.member(name);
    if (value !== undefined && typeof value !== 'boolean') throw invalidField(name, 'true or false');
    return value;
  }

  integers(name: string): readonly number[] | undefined {
    const value = this.member(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value) || value.length > maxIntegers || !value.every((item) => Number.isSafeInteger(item)))
      throw invalidField(name, `a list of at most ${maxIntegers} integers`);
    return value;
  }

  /** An object of texts, as names and values. */
  texts(name: string): readonly (readonly [name: string, text: string])[] | undefined {
    const value = this.member(name);
    if (value === undefined) return undefined;
    const isObject = typeof value === 'object' && !Array.isArray(value);
    const members = isObject ? Object.entries(value as Record<string, unknown>) : [];
    if (!isObject || !members.every((member): member is [string, string] => typeof member[1] === 'string'))
      throw invalidField(name, 'an object whose values are texts');
    return members;
  }

  /** Text, number or boolean, as text. */
  scalar(name: string): string | undefined {
    const value = this.member(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
      throw invalidField(name, 'text, a number, true or false');
    const text = String(value);
    checkWellFormed(name, text);
    return text;
  }

  private member(name: string): unknown {
    return this.members.get(name.toLowerCase()) ?? undefined;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Failure('invalid-body');
  }
}

/** The members that were given: an absent one must not overwrite what is there. */
export const present = <Members extends object>(members: Members): Partial<Members> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<Members>;
