import type { Actor } from '../../domain/user.js';
import type { UserRow } from '../../projections/models/users.js';

/** `a***@example.org`: enough to know an address by, too little to write to. */
const maskedEmail = (email: string): string => email.replace(/^(.).*?(@[^@]*)?$/su, '$1***$2');

/** Where others get their warnings is their own business, whoever administers them. */
export const seenBy = (viewer: Actor, user: UserRow): UserRow =>
  user.id === viewer.id ? user : { ...user, email: maskedEmail(user.email), settings: '' };
