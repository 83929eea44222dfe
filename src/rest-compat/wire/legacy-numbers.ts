import type { RedemptionStatus } from '../../domain/payment/redemption.js';
import type { Role } from '../../domain/user/role.js';
import type { ApiKeyRow } from '../../projections/models/api-keys.js';
import type { ChannelRow } from '../../projections/models/channels.js';
import type { UserRow } from '../../projections/models/users.js';

/* The numbers and texts for which the system has words. */

export const roleNumbers: Readonly<Record<Role, number>> = { ordinary: 1, auditor: 5, admin: 10, root: 100 };
export const userStatusNumbers: Readonly<Record<UserRow['status'], number>> = { enabled: 1, disabled: 2 };
export const apiKeyStatusNumbers: Readonly<Record<ApiKeyRow['status'], number>> = {
  enabled: 1,
  disabled: 2,
  expired: 3,
  exhausted: 4,
};
export const channelStatusNumbers: Readonly<Record<ChannelRow['status'], number>> = {
  enabled: 1,
  disabled: 2,
  'auto-disabled': 3,
};

export const redemptionStatusNumbers: Readonly<Record<RedemptionStatus, number>> = { unused: 1, disabled: 2, used: 3 };

/** The word behind a number; null: the contract gives it no meaning. */
export function wordFor<Word extends string>(numbers: Readonly<Record<Word, number>>, wanted: number): Word | null {
  const found = Object.entries<number>(numbers).find(([, number]) => number === wanted);
  return found === undefined ? null : (found[0] as Word);
}

/** `DeletedAt`: RFC 3339 text, or null for what lives. */
export const deletedAt = (seconds: number | null): string | null =>
  seconds === null ? null : new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');

/** A comma list, as the contract writes models and groups: blanks around a name and empty names do not count. */
export const legacyNamesIn = (list: string): string[] =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
