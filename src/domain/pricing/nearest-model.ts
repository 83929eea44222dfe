/* Which priced model a name is nearest to that no table knows: an earlier version of it, or its family. */

interface Version {
  /** What stands before and after the version. */
  readonly frame: string;
  readonly numbers: readonly number[];
}

/** `-2026-11-20`, `-20261120`, `@20261120`, `-latest`, `-preview`: the same model, at some state of it. */
const state = /(?:[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|\d{6}|\d{4}|latest|preview|exp))+$/;

const versionIn = /(?<![\d.])(\d{1,2}(?:[.-]\d{1,2})*)(?![\d.])/;

/** null: the name has no version. */
function versionOf(name: string): Version | null {
  const found = versionIn.exec(name);
  if (found === null) return null;
  const [, numbers = ''] = found;
  const before = name.slice(0, found.index);
  // Of `claude-opus-5-5` and `gpt-6.1-sol` alike.
  return { frame: `${before}#${name.slice(found.index + numbers.length)}`, numbers: numbers.split(/[.-]/).map(Number) };
}

function isEarlier(one: readonly number[], other: readonly number[]): boolean {
  for (let index = 0; index < Math.max(one.length, other.length); index++) {
    const difference = (one[index] ?? 0) - (other[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

interface Candidate {
  readonly name: string;
  readonly numbers: readonly number[];
}

/** Ready to be asked for many names. */
export class NearestModels {
  private readonly names: ReadonlySet<string>;
  private readonly byFrame = new Map<string, Candidate[]>();

  /** `priced`: names of models that have a price of their own. */
  constructor(priced: Iterable<string>) {
    this.names = new Set(priced);
    for (const name of this.names) {
      const version = versionOf(name);
      if (version === null) continue;
      const candidates = this.byFrame.get(version.frame) ?? [];
      candidates.push({ name, numbers: version.numbers });
      this.byFrame.set(version.frame, candidates);
    }
  }

  /** null: there is none that is near. */
  of(model: string): string | null {
    const plain = model.replace(state, '');
    if (plain !== model && this.names.has(plain)) return plain;
    return this.earlierVersion(plain) ?? this.family(plain);
  }

  /** The latest that is earlier: never a later one, which may be cheaper. */
  private earlierVersion(model: string): string | null {
    const version = versionOf(model);
    let latest: Candidate | null = null;
    for (const candidate of version === null ? [] : (this.byFrame.get(version.frame) ?? [])) {
      if (!isEarlier(candidate.numbers, version?.numbers ?? [])) continue;
      if (latest === null || isEarlier(latest.numbers, candidate.numbers)) latest = candidate;
    }
    return latest?.name ?? null;
  }

  /** The longest beginning that ends before a `-` or `:`, and after which no version goes on. */
  private family(model: string): string | null {
    for (let length = model.length - 1; length > 0; length--) {
      const rest = model.slice(length);
      if (/^[-:]\D/.test(rest) && this.names.has(model.slice(0, length))) return model.slice(0, length);
    }
    return null;
  }
}
