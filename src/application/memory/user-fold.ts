import { beginning } from '../../domain/events/events.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { isEndOfSignIns } from '../../domain/user/end-of-sign-ins.js';
import { type User, type UserEvent, userDecider } from '../../domain/user/user.js';
import type { UserCredentials, UserView } from '../ports/storage-ports.js';
import type { Fold } from './stream-folds.js';

/** A user with what the relay and reminders ask its settings for, and what it signs in with. */
export type FoldedUser = { user: User; acceptUnpricedModels: boolean; quotaWarningThreshold: number | null } & Omit<
  UserCredentials,
  'user'
>;

export const userFold: Fold<FoldedUser, UserEvent> = {
  initial: {
    user: userDecider.initial,
    acceptUnpricedModels: false,
    quotaWarningThreshold: null,
    passwordSecret: null,
    accessToken: null,
    endedAt: beginning,
  },
  evolve(known, event, { position }) {
    const folded = { ...known, user: userDecider.evolve(known.user, event) };
    if (isEndOfSignIns(event)) folded.endedAt = position;
    switch (event.type) {
      case 'UserRegistered':
      case 'PasswordChanged':
        return { ...folded, passwordSecret: event.passwordSecret };
      case 'AccessTokenIssued':
        return { ...folded, accessToken: { hash: event.tokenHash, issuedAt: position } };
      case 'UserSettingsChanged':
        return {
          ...folded,
          acceptUnpricedModels: event.acceptUnpricedModels,
          quotaWarningThreshold: event.quotaWarningThreshold,
        };
      default:
        return folded;
    }
  },
};

/** null: there is no such user. */
export function userViewOf(id: UserId, { user, acceptUnpricedModels }: FoldedUser): UserView | null {
  if (user.status === 'absent') return null;
  const { username, role, status, group } = user;
  return { id, username, role, status, group, acceptUnpricedModels };
}

/** null: there is no such user. */
export function credentialsOf(id: UserId, known: FoldedUser): UserCredentials | null {
  const user = userViewOf(id, known);
  if (user === null) return null;
  const { passwordSecret, accessToken, endedAt } = known;
  return { user, passwordSecret, accessToken, endedAt };
}
