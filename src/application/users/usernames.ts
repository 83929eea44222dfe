import type { UserId } from '../../domain/kernel/ids.js';
import { lookOf } from '../../domain/kernel/look-alike.js';
import { type Claiming, type Claims, type Exchanged, type Rollback, rollBackAll } from './claims.js';

/* Unique user names: a name is claimed as it is written and, where that is another, as it looks. */

const spellingsOf = (name: string): readonly string[] => {
  const [written, look] = [name.toLowerCase(), lookOf(name)];
  return written === look ? [written] : [written, look];
};

export function usernames(claims: Claims) {
  const claimsOf = (name: string): Claiming[] =>
    spellingsOf(name).map((spelling) =>
      claims.username(spelling, ({ username }) => spellingsOf(username).includes(spelling)),
    );

  /** Gives a name back, unless the user bears it. */
  const release = async (name: string, userId: UserId): Promise<void> => {
    for (const claimed of claimsOf(name)) await claimed.release(userId);
  };

  /** Throws `username-taken`. What was claimed of a name that looks like somebody else's is given back. */
  const claim = async (name: string, userId: UserId): Promise<Rollback> => {
    const undo: Rollback[] = [];
    try {
      for (const claimed of claimsOf(name)) undo.push(await claimed.claim(userId));
    } catch (error) {
      await rollBackAll(undo)().catch(() => {});
      throw error;
    }
    return rollBackAll(undo);
  };

  return {
    /** From the log. null: no such user. */
    nameOf: async (userId: UserId): Promise<string | null> => (await claims.userOf(userId))?.username ?? null,

    claim,
    release,

    /** A name as something that a user can have instead of another. */
    exchanged: (name: string): Exchanged => ({
      claim: (userId) => claim(name, userId),
      async lettingGo(userId) {
        const all: Rollback[] = [];
        for (const claimed of claimsOf(name)) all.push(await claimed.lettingGo(userId));
        return rollBackAll(all);
      },
    }),

    /** Written so, or looking so; deleted users keep their names. */
    async isTaken(name: string): Promise<boolean> {
      for (const claimed of claimsOf(name)) if ((await claimed.holder()) !== null) return true;
      return false;
    },
  };
}
