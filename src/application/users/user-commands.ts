import type { Position } from '../../domain/events/events.js';
import type { UserId } from '../../domain/kernel/ids.js';
import type { Actor } from '../../domain/user/user.js';
import { bindings } from '../sign-in/bindings.js';
import { passkeysOf } from '../sign-in/passkeys-of.js';
import { accountDeletion } from './account-deletion.js';
import { claims } from './claims.js';
import { inviteRewards } from './invite-rewards.js';
import { invites } from './invites.js';
import { adjustQuota, type QuotaChange } from './user-balance.js';
import type { UserCommandPorts, UserPorts } from './user-command-ports.js';
import { changeOwnProfile, type EditOrder, editUser, replacePassword, type UserPatch } from './user-profile.js';
import { createUser, registerOnce, registerUser } from './user-registration.js';
import { issueAccessToken, manageUser } from './user-status.js';
import { usernames } from './usernames.js';

/* All commands about users, over ports that are made once. */

function userPorts(given: UserCommandPorts): UserPorts {
  const claimed = claims(given);
  return {
    ...given,
    claims: claimed,
    names: usernames(claimed),
    inviteRewards: inviteRewards(given),
    bindings: bindings({ ...given, claims: claimed, passkeysOf: passkeysOf(given.store) }),
  };
}

export function userCommands(given: UserCommandPorts) {
  const ports = userPorts(given);
  return {
    ...accountDeletion(ports),
    bindings: ports.bindings,
    inviteRewards: ports.inviteRewards,
    invites: invites(ports),
    isNameTaken: (username: string): Promise<boolean> => ports.names.isTaken(username),

    register: registerUser.bind(null, ports),
    registerOnce: registerOnce.bind(null, ports),
    create: createUser.bind(null, ports),
    changeOwnProfile: changeOwnProfile.bind(null, ports),
    replacePassword: replacePassword.bind(null, ports),
    manage: manageUser.bind(null, ports),
    issueAccessToken: issueAccessToken.bind(null, ports),

    edit: (actor: Actor, id: UserId, patch: UserPatch, order: EditOrder = {}): Promise<Position> =>
      editUser(ports, actor, { ...order, id, patch }),
    /** `key`: the client's idempotency key; a repeat changes nothing. */
    adjustQuota: (actor: Actor, id: UserId, change: QuotaChange, key: string | null = null): Promise<Position> =>
      adjustQuota(ports, actor, { ...change, id, key }),
  };
}

export type UserCommands = ReturnType<typeof userCommands>;
