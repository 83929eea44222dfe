import { type Position, streams } from '../../domain/events/events.js';
import { isInviteCode } from '../../domain/kernel/claim.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { type Actor, userDecider } from '../../domain/user/user.js';
import type { Handle } from '../handle.js';
import { randomText } from '../random-text.js';
import type { Claims } from './claims.js';

/* By which users invite others: each has a code of its own, for ever, from the moment it is first asked for. */

interface InvitePorts {
  readonly handle: Handle;
  readonly claims: Claims;
  /** Draws a code that may be somebody's already. */
  readonly draw?: () => string;
}

const codeLength = 4;
/** Of fourteen million codes; while one in ten is taken, one in ten thousand users is told to try again. */
const draws = 4;

export function invites({ handle, claims, draw = () => randomText(codeLength) }: InvitePorts) {
  const codeOf = async (id: UserId): Promise<string | null> => (await claims.userOf(id))?.inviteCode ?? null;

  /** Claimed for the user; null: every one that was drawn is somebody's. */
  const claimed = async (id: UserId): Promise<string | null> => {
    for (let drawn = 0; drawn < draws; drawn++) {
      const code = draw();
      try {
        await claims.invite(code).claim(id);
        return code;
      } catch (error) {
        if (!(error instanceof Failure) || error.code !== 'invite-code-taken') throw error;
      }
    }
    return null;
  };

  return {
    /** The user's code, made at the first time. Throws `invite-code-taken` where none was found that is free. */
    async ownCode({ id }: Actor): Promise<{ readonly code: string; readonly position: Position | null }> {
      const before = await codeOf(id);
      if (before !== null) return { code: before, position: null };
      const code = await claimed(id);
      if (code === null) throw new Failure('invite-code-taken');
      const { position } = await handle(userDecider, streams.user(id), { type: 'IssueInviteCode', code });
      // Asked for twice at once, there is one of the two; the other is nobody's.
      const issued = (await codeOf(id)) ?? code;
      if (issued !== code) await claims.invite(code).release(id);
      return { code: issued, position };
    },

    /** Who invites with the code; null: nobody, or a user who has been deleted. */
    async inviterBy(code: string): Promise<UserId | null> {
      if (!isInviteCode(code)) return null;
      const holder = await claims.invite(code).holder();
      const user = holder === null ? null : await claims.userOf(holder);
      return user === null || user.status === 'deleted' ? null : holder;
    },
  };
}
