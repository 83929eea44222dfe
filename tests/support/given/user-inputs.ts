import type { UserPatch } from '../../../src/application/users/user-profile.js';
import type { NewUser } from '../../../src/application/users/user-registration.js';

/* What somebody fills in about a user; a test names what it is about. */

export const newUser = (changed: Partial<NewUser> = {}): NewUser => ({
  username: 'alice',
  password: 'correct horse',
  displayName: '',
  ...changed,
});

export const userPatch = (changed: Partial<UserPatch>): UserPatch => ({
  ...{ username: null, password: null, displayName: null, group: null, quota: null, role: null },
  ...changed,
});

export const ownProfile = (changed: { username?: string; password?: string; displayName?: string }) => ({
  ...{ username: null, password: null, displayName: null },
  ...changed,
});
