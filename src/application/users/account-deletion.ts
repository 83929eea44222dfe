import { type Position, streams } from '../../domain/events/events.js';
import { identityProviders } from '../../domain/kernel/claim.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { type Actor, userDecider } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import type { Handle } from '../handle.js';
import type { PersonalData, Sessions } from '../ports/storage-ports.js';
import { noStepUp, type SessionProof } from '../session-proof.js';
import type { StepUps } from '../sign-in/step-up.js';
import type { Claims } from './claims.js';
import type { Usernames } from './usernames.js';

/* How a user goes: deleted, so that what was reserved stays so, or erased, so that nothing of the user is left. */

interface AccountDeletionPorts {
  readonly handle: Handle;
  readonly personal: Pick<PersonalData, 'forget'>;
  readonly sessions: Pick<Sessions, 'closeOlder'>;
  readonly claims: Claims;
  readonly names: Pick<Usernames, 'release'>;
  readonly stepUps: Pick<StepUps, 'demand'>;
}

export function accountDeletion({ handle, personal, sessions, claims, names, stepUps }: AccountDeletionPorts) {
  const gone = async (id: UserId, position: Position): Promise<Position> => {
    await sessions.closeOlder(id, position);
    await personal.forget([id]);
    return position;
  };

  /** Frees what an erased user had claimed; safe to repeat, and changes nothing for whoever is not erased. */
  const freeClaims = async (id: UserId): Promise<void> => {
    const user = await claims.userOf(id);
    if (user === null || !user.erased) return;
    await names.release(user.username, id);
    if (user.email !== null) await claims.identity('email', user.email).release(id);
    for (const provider of identityProviders) {
      const claim = user.identities[provider];
      if (claim !== undefined) await claims.identity(provider, claim).release(id);
    }
  };

  return {
    freeClaims,

    /** Name, address and identities stay reserved. Throws `root-protected-leave`, `step-up-needed`. */
    async deleteOwnAccount(actor: Actor, sessionProof: SessionProof = noStepUp): Promise<Position> {
      const remove = async (): Promise<Position> => {
        const { position } = await handle.by(actor)(userDecider, streams.user(actor.id), {
          type: 'DeleteOwnAccount',
          by: actor.id,
        });
        return gone(actor.id, position);
      };
      return actor.role === 'root' ? remove() : stepUps.demand(actor, 'delete-account', sessionProof, remove);
    },

    /** Nothing is left to be found; name, address and identities are free. Throws `peer-delete-forbidden`. */
    async erase(actor: Actor, id: UserId): Promise<Position> {
      authorise(actor, 'admin');
      const { position } = await handle.by(actor)(userDecider, streams.user(id), { type: 'EraseUser', by: actor });
      await freeClaims(id);
      return gone(id, position);
    },

    /** Each session and the access token of the user end. */
    async endSignIns(actor: Actor, id: UserId): Promise<Position> {
      authorise(actor, 'admin');
      const { position } = await handle.by(actor)(userDecider, streams.user(id), { type: 'EndSignIns', by: actor });
      await sessions.closeOlder(id, position);
      return position;
    },
  };
}
