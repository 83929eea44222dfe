import { optionsIn, UsageError } from '../src/cli/command.js';

/* The command line of a part: its options, their defaults, and what is wrong with what was given. */

/** How one option is read. */
export interface Option<Value> {
  /** What is read when it is not given. */
  readonly usual: readonly string[];
  readonly says: string;
  /** Throws UsageError, which names what is allowed. `texts`: as often as it was given. */
  read(texts: readonly string[]): Value;
}

export type Options = Readonly<Record<string, Option<unknown>>>;

export type Values<Declared extends Options> = {
  readonly [Name in keyof Declared]: Declared[Name] extends Option<infer Value> ? Value : never;
};

const last = (texts: readonly string[]): string => texts.at(-1) ?? '';

function numberIn(text: string, min: number, max: number, allowed: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!(value >= min && value <= max)) throw new UsageError(`${allowed}, not "${text}"`);
  return value;
}

function countIn(text: string, max: number): number {
  const allowed = `a whole number from 1 to ${max}`;
  const value = numberIn(text, 1, max, allowed);
  if (!Number.isInteger(value)) throw new UsageError(`${allowed}, not "${text}"`);
  return value;
}

export const count = (usual: number, says: string, max = 1_000_000_000): Option<number> => ({
  usual: [String(usual)],
  says,
  read: (texts) => countIn(last(texts), max),
});

/** May be given several times, or with commas. */
export const counts = (usual: readonly number[], says: string, max = 1_000_000_000): Option<readonly number[]> => ({
  usual: usual.map(String),
  says,
  read: (texts) => texts.flatMap((text) => text.split(',')).map((text) => countIn(text, max)),
});

export const seconds = (usual: number, says: string): Option<number> => ({
  usual: [String(usual)],
  says,
  read: (texts) => numberIn(last(texts), 0.1, 3600, 'seconds from 0.1 to 3600'),
});

export const text = (usual: string, says: string): Option<string> => ({ usual: [usual], says, read: last });

/** A gateway of somebody else's that takes part. */
export interface Peer {
  readonly name: string;
  /** Without trailing slash; `/v1/…` comes after it. */
  readonly url: string;
  readonly apiKey: string;
}

const ownNames: ReadonlySet<string> = new Set(['direct', 'proxy', 'tallygate']);

function peerIn(given: string): Peer {
  const [, name = '', url = '', apiKey = 'sk-bench'] = /^([a-z][a-z0-9-]{0,19})=([^,]+)(?:,(\S+))?$/.exec(given) ?? [];
  if (name === '' || !URL.canParse(url) || new URL(url).protocol !== 'http:')
    throw new UsageError(
      `name=http://host:port or name=http://host:port,key with a name of lower-case letters, digits and dashes, not "${given}"`,
    );
  if (ownNames.has(name)) throw new UsageError(`another name than "${name}", which is one of our own`);
  return { name, url: url.replace(/\/+$/, ''), apiKey };
}

export const peers = (says: string): Option<readonly Peer[]> => ({
  usual: [],
  says,
  read(texts) {
    const given = texts.map(peerIn);
    const twice = given.find(({ name }, at) => given.findIndex((other) => other.name === name) !== at);
    if (twice !== undefined) throw new UsageError(`each name once, and "${twice.name}" is there twice`);
    return given;
  },
});

export interface Read<Declared extends Options> {
  readonly json: boolean;
  readonly values: Values<Declared>;
}

/** Throws UsageError. */
export function readArguments<Declared extends Options>(args: readonly string[], declared: Declared): Read<Declared> {
  const names = Object.keys(declared);
  const known = Object.fromEntries(names.map((name) => [name, { type: 'string', multiple: true } as const]));
  const { json, ...given }: Record<string, unknown> = optionsIn(args, { ...known, json: { type: 'boolean' } });
  const read = names.map((name) => {
    const option = declared[name] as Option<unknown>;
    const texts = given[name];
    try {
      return [name, option.read(Array.isArray(texts) ? texts.map(String) : option.usual)];
    } catch (error) {
      if (error instanceof UsageError) throw new UsageError(`--${name}: give ${error.message}`);
      throw error;
    }
  });
  return { json: json === true, values: Object.fromEntries(read) as Values<Declared> };
}

/** One line per option. */
export function optionsHelp(declared: Options): string[] {
  const shown = Object.entries(declared).map(([name, { usual, says }]) => ({
    name: `--${name}`,
    says: usual.length === 0 ? says : `${says} (${usual.join(', ')})`,
  }));
  const width = Math.max(0, ...shown.map(({ name }) => name.length)) + 2;
  return shown.map(({ name, says }) => `    ${name.padEnd(width)}${says}`);
}
