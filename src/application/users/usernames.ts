import type { UserId } from '../../domain/kernel/ids.js';
import { lookOf } from '../../domain/kernel/look-alike.js';
import type { SwappableClaim } from './claim-swap.js';
import type { Claims, UniqueClaim } from './claims.js';
import { type Rollback, rollBackAll } from './unique-claim.js';

/* Unique user names: a name is claimed as it is written and, where that is another, as it looks. */

export interface Usernames {
  /** From the log. null: no such user. */
  nameOf(userId: UserId): Promise<string | null>;
  /** Throws `username-taken`. Nothing stays claimed of a name that looks like somebody else's. */
  claim(name: string, userId: UserId): Promise<Rollback>;
  /** Gives a name back, unless the user bears it. */
  release(name: string, userId: UserId): Promise<void>;
  /** A name as something that a user can have instead of another. */
  swappable(name: string): SwappableClaim;
  /** Written so, or looking so; deleted users keep their names. */
  isTaken(name: string): Promise<boolean>;
}

const spellingsOf = (name: string): readonly string[] => {
  const [written, look] = [name.toLowerCase(), lookOf(name)];
  return written === look ? [written] : [written, look];
};

const claimsOf = (claims: Claims, name: string): UniqueClaim[] =>
  spellingsOf(name).map((spelling) =>
    claims.username(spelling, ({ username }) => spellingsOf(username).includes(spelling)),
  );

async function claimName(claims: Claims, name: string, userId: UserId): Promise<Rollback> {
  const made: Rollback[] = [];
  try {
    for (const spelling of claimsOf(claims, name)) made.push(await spelling.claim(userId));
  } catch (error) {
    await rollBackAll(made)().catch(() => {});
    throw error;
  }
  return rollBackAll(made);
}

export const usernames = (claims: Claims): Usernames => ({
  nameOf: async (userId) => (await claims.userOf(userId))?.username ?? null,
  claim: (name, userId) => claimName(claims, name, userId),
  async release(name, userId) {
    for (const spelling of claimsOf(claims, name)) await spelling.release(userId);
  },
  swappable: (name) => ({
    claim: (userId) => claimName(claims, name, userId),
    async prepareRelease(userId) {
      const all: Rollback[] = [];
      for (const spelling of claimsOf(claims, name)) all.push(await spelling.prepareRelease(userId));
      return rollBackAll(all);
    },
  }),
  async isTaken(name) {
    for (const spelling of claimsOf(claims, name)) if ((await spelling.holder()) !== null) return true;
    return false;
  },
});
