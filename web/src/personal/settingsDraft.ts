import type { NotifyType, PersonalUserFragment } from '../generated/personal/personal.js';

/* The form of the settings, as it stands before it is sent. */

export interface SettingsDraft {
  readonly notifyType: NotifyType;
  /** null: what is typed is no amount. */
  readonly quotaWarningThreshold: number | null;
  readonly webhookUrl: string;
  readonly webhookSecret: string;
  readonly notificationEmail: string;
  readonly acceptUnpricedModels: boolean;
}

/** What the form begins with while nothing has been chosen. */
const initialThreshold = 100_000;

export const draftOf = (settings: PersonalUserFragment['settings']): SettingsDraft => ({
  notifyType: settings?.notifyType ?? 'EMAIL',
  quotaWarningThreshold: settings?.quotaWarningThreshold ?? initialThreshold,
  webhookUrl: settings?.webhookUrl ?? '',
  webhookSecret: '',
  notificationEmail: settings?.notificationEmail ?? '',
  acceptUnpricedModels: settings?.acceptUnpricedModels ?? false,
});

type Problem = 'threshold' | 'url' | 'address';

export function problemsOf(draft: SettingsDraft): ReadonlySet<Problem> {
  const problems = new Set<Problem>();
  const { notifyType, quotaWarningThreshold, webhookUrl, notificationEmail } = draft;
  if (quotaWarningThreshold === null || quotaWarningThreshold <= 0) problems.add('threshold');
  if (notifyType === 'WEBHOOK' && !(URL.canParse(webhookUrl) && new URL(webhookUrl).protocol === 'https:'))
    problems.add('url');
  if (notifyType === 'EMAIL' && notificationEmail !== '' && !notificationEmail.includes('@')) problems.add('address');
  return problems;
}
