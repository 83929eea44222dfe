import type { UserRow } from '../projections/models/users.js';
import { deletedAt, roleNumbers, userStatusNumbers } from './wire/legacy-numbers.js';

/** What the contract calls the members of a user, and of an order about one, that have other names here. */
export const userFields = {
  displayName: 'display_name',
  emailCode: 'verification_code',
  inviteCode: 'aff_code',
  notifyType: 'notify_type',
  quotaWarningThreshold: 'quota_warning_threshold',
  webhookUrl: 'webhook_url',
  webhookSecret: 'webhook_secret',
  notificationEmail: 'notification_email',
  shownQuota: 'shown_quota',
  delta: 'quota_delta',
  gift: 'gift_quota_delta',
} as const;

/** A user as the contract shows it. Password and access token have members and never values. */
export const legacyUser = (row: UserRow) => ({
  id: row.id,
  username: row.username,
  password: '',
  display_name: row.display_name,
  role: roleNumbers[row.role],
  status: userStatusNumbers[row.status],
  email: row.email,
  github_id: row.github,
  oidc_id: row.oidc,
  wechat_id: row.wechat,
  telegram_id: row.telegram,
  linux_do_id: row.linuxdo,
  verification_code: '',
  access_token: null,
  quota: row.quota,
  used_quota: row.used_quota,
  request_count: row.request_count,
  group: row.group,
  aff_code: row.invite_code ?? '',
  aff_count: row.rewarded_count,
  aff_quota: row.invite_quota,
  aff_history_quota: row.invite_quota_ever,
  inviter_id: row.inviter_id ?? 0,
  setting: row.settings,
  DeletedAt: deletedAt(row.deleted_at),
});

/** What a sign-in answers with; clients keep it. */
export const signedInUser = ({ id, username, display_name, role, status, group }: UserRow) => ({
  id,
  username,
  display_name,
  role: roleNumbers[role],
  status: userStatusNumbers[status],
  group,
});

/** The settings text with the webhook secret where it belongs: only for the user, whose form sends it back. */
export function ownSetting({ settings }: UserRow, webhookSecret: string): string {
  if (webhookSecret === '') return settings;
  return JSON.stringify({ ...(JSON.parse(settings) as object), webhook_secret: webhookSecret });
}
