/* Versions as semver.org orders them; what follows a `+` does not count. A tag may begin with `v`. */

interface Version {
  /** Major, minor, patch. */
  readonly numbers: readonly bigint[];
  /** Of `1.0.0-beta.2`: `beta` and `2`; none: it is released. */
  readonly preRelease: readonly string[];
}

const pattern = /^v?(\d+)\.(\d+)\.(\d+)(?:-([0-9a-z-]+(?:\.[0-9a-z-]+)*))?(?:\+[0-9a-z.-]+)?$/i;

function versionIn(text: string): Version | null {
  const found = pattern.exec(text);
  if (found === null) return null;
  return { numbers: found.slice(1, 4).map(BigInt), preRelease: found[4]?.split('.') ?? [] };
}

const byDigits = /^\d+$/;

/** Of two parts of a pre-release that differ. Numbers go by size, and before words. */
function isLaterPart(part: string, than: string): boolean {
  if (byDigits.test(part) && byDigits.test(than)) return BigInt(part) > BigInt(than);
  return byDigits.test(part) === byDigits.test(than) ? part > than : byDigits.test(than);
}

function isLaterPreRelease(parts: readonly string[], than: readonly string[]): boolean {
  if (parts.length === 0 || than.length === 0) return than.length > parts.length;
  const level = parts.findIndex((part, index) => part !== than[index]);
  const [part, other] = [parts[level], than[level]];
  if (part === undefined) return false;
  return other === undefined || isLaterPart(part, other);
}

/** null: one of them is no version, so they cannot be compared. */
export function isNewer(text: string, than: string): boolean | null {
  const [version, other] = [versionIn(text), versionIn(than)];
  if (version === null || other === null) return null;
  for (const [level, number] of version.numbers.entries()) {
    const known = other.numbers[level] ?? 0n;
    if (number !== known) return number > known;
  }
  return isLaterPreRelease(version.preRelease, other.preRelease);
}
