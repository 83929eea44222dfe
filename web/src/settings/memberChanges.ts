/* What differs between two JSON objects, member by member: of a table of a thousand prices, the two that were changed. */

export interface MemberChange {
  readonly name: string;
  /** As JSON; null: it was not there. */
  readonly from: string | null;
  readonly to: string | null;
}

type Members = Readonly<Record<string, unknown>>;

function membersOf(text: string): Members | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : null;
  } catch {
    return null;
  }
}

const memberText = (members: Members, name: string): string | null =>
  Object.hasOwn(members, name) ? JSON.stringify(members[name]) : null;

/** null: the texts are no two objects. */
export function memberChanges(from: string, to: string): readonly MemberChange[] | null {
  const [before, after] = [membersOf(from), membersOf(to)];
  if (before === null || after === null) return null;
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .map((name) => ({ name, from: memberText(before, name), to: memberText(after, name) }))
    .filter((member) => member.from !== member.to);
}
