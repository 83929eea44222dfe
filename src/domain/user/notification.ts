import { escapeHtml, unescapeHtml } from '../kernel/html.js';
import type { ChannelId } from '../kernel/ids.js';
import type { Language } from '../kernel/language.js';

/* What users are notified of. The texts are those that clients of the legacy contract know. */

export interface Notification {
  /** What it is about; of one kind a user gets so many in a while. */
  readonly kind: string;
  readonly title: string;
  /** `{{value}}` stands where a value belongs, in their order. */
  readonly content: string;
  readonly values: readonly string[];
  /** `content` is HTML; what takes a placeholder's place is text all the same. */
  readonly isHtml: boolean;
  /** The same in English, for mails; `values` missing: the same. Missing where an older version has queued it. */
  readonly en?: { readonly title: string; readonly content: string; readonly values?: readonly string[] };
  /** Goes to the user by mail, whatever way the user has chosen: a thief could have chosen another one. */
  readonly aboutSecurity?: true;
  /** Address that it goes to; missing: the user's own, or the one chosen in the settings. */
  readonly to?: string;
}

/** What is older is sent to nobody. */
export const newsForMs = 24 * 60 * 60 * 1000;

const runningOut = '您的额度即将用尽';
const runningOutInEnglish = 'Your quota is running out';

/** `left`: the balance, in words of each language. */
export const quotaRunningOut = (left: string, leftInEnglish: string, topUpAddress: string): Notification => ({
  kind: 'quota_exceed',
  title: runningOut,
  content:
    "{{value}}，当前剩余额度为 {{value}}，为了不影响您的使用，请及时充值。<br/>充值链接：<a href='{{value}}'>{{value}}</a>",
  values: [runningOut, left, topUpAddress, topUpAddress],
  isHtml: true,
  en: {
    title: runningOutInEnglish,
    content:
      "{{value}}: {{value}} is left. Top it up so that your calls go on.<br/>Top up: <a href='{{value}}'>{{value}}</a>",
    values: [runningOutInEnglish, leftInEnglish, topUpAddress, topUpAddress],
  },
});

/** A channel that nobody switched by hand: off for a reason, or on again. */
export function channelSwitched(id: ChannelId, name: string, off: { readonly reason: string } | null): Notification {
  const title = `通道「${name}」（#${id}）${off === null ? '已被启用' : '已被禁用'}`;
  const inEnglish = `Channel "${name}" (#${id}) was switched ${off === null ? 'on' : 'off'}`;
  return {
    // The numbers are those that the legacy contract gives to the two states.
    kind: `channel_update_${id}_${off === null ? 1 : 3}`,
    title,
    content: off === null ? title : `${title}，原因：${off.reason}`,
    values: [],
    isHtml: false,
    en: { title: inEnglish, content: off === null ? inEnglish : `${inEnglish}. Reason: ${off.reason}` },
  };
}

/** A test of all channels is over. */
export const testRunFinished: Notification = {
  kind: 'channel_test',
  title: '通道测试完成',
  content: '所有通道测试已完成',
  values: [],
  isHtml: false,
  en: { title: 'Channel tests finished', content: 'All channels have been tested' },
};

/** `balance`: what the account of a channel has left, as its provider reports it. */
export function channelRunningOut(id: ChannelId, name: string, balance: string): Notification {
  const title = `通道「${name}」（#${id}）余额不足`;
  const inEnglish = `The balance of channel "${name}" (#${id}) is low`;
  return {
    kind: `channel_balance_${id}`,
    title,
    content: `${title}，当前余额：${balance}`,
    values: [],
    isHtml: false,
    en: { title: inEnglish, content: `${inEnglish}. Balance: ${balance}` },
  };
}

const sealHeadKind = 'seal_head';

/** The newest seal of the log: `NUMBER:DIGEST`, and the seal as it is exported. */
export const sealHeadNews = (head: string, seal: string): Notification => ({
  kind: sealHeadKind,
  title: '事件日志封印',
  content: '最新封印：{{value}}<br/>{{value}}',
  values: [head, seal],
  isHtml: true,
  en: { title: 'Seal of the event log', content: 'The newest seal: {{value}}<br/>{{value}}' },
});

/** Goes to whom the options name, not to the user it waits under. */
export const isSealHead = ({ kind }: Notification): boolean => kind === sealHeadKind;

/** Sent to a webhook before it is stored. */
export const trial: Notification = {
  kind: 'test',
  title: '通知测试',
  content: '这是一条测试通知，收到即表示 Webhook 配置有效。',
  values: [],
  isHtml: false,
};

const placeholder = '{{value}}';

function filled(content: string, values: readonly string[]): string {
  const [first = '', ...parts] = content.split(placeholder);
  return parts.reduce((text, part, index) => `${text}${values[index] ?? placeholder}${part}`, first);
}

/** As a mail, for readers of HTML and for others. */
export function asMail(
  notification: Notification,
  language: Language,
): {
  subject: string;
  html: string;
  text: string;
} {
  const { isHtml, en } = notification;
  const { title, content, values } = { ...notification, ...(language === 'en' ? en : {}) };
  const html = isHtml ? filled(content, values.map(escapeHtml)) : `<p>${escapeHtml(filled(content, values))}</p>`;
  return { subject: title, html, text: unescapeHtml(html.replaceAll('<br/>', '\n').replace(/<[^>]*>/g, '')) };
}
