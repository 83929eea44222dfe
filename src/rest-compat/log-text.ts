import type { Settings } from '../application/settings.js';
import { assertNever } from '../domain/failure.js';
import { ratioOf } from '../domain/pricing.js';
import type { GrantReason } from '../domain/user.js';
import type { UsageLogEntry } from '../projections/models/usage-log/usage-log-queries.js';
import { audioRatiosOf, isAudioChat } from './audio-chat.js';

/* What a log line says in words. Lines hold facts; the sentence is made when somebody reads it. */

/** How amounts are written: in dollars with a full-width sign, or in units. */
export interface QuotaStyle {
  readonly inCurrency: boolean;
  readonly quotaPerUnit: number;
}

export const quotaStyle = (settings: Settings): QuotaStyle => ({
  inCurrency: settings.flag('DisplayInCurrencyEnabled'),
  quotaPerUnit: Number(settings.prices.quotaPerUnit),
});

const quotaText = (quota: number, { inCurrency, quotaPerUnit }: QuotaStyle): string =>
  inCurrency ? `＄${(quota / quotaPerUnit).toFixed(6)} 额度` : `${quota} 点额度`;

const grants: Readonly<Record<GrantReason, string>> = {
  setup: '系统初始化赠送',
  signup: '新用户注册赠送',
  invitee: '使用邀请码赠送',
  inviter: '邀请用户赠送',
};

const channelTest = '模型测试';
const upstreamSilent = '（可能是上游超时）';

const ratio = (text: string): string => Number(text).toFixed(2);

function consumption(line: UsageLogEntry): string {
  const { price, prompt_tokens, completion_tokens } = line;
  if (price === null) return '';
  const silent = prompt_tokens + completion_tokens === 0 ? upstreamSilent : '';
  if (price.per === 'call') return `模型价格 ${ratio(price.price)}，分组倍率 ${ratio(price.group)}${silent}`;
  const { input, completion } = audioRatiosOf(price);
  const audio = isAudioChat(line) ? `音频倍率 ${input.toFixed(2)}，音频补全倍率 ${completion.toFixed(2)}，` : '';
  return `模型倍率 ${ratio(price.model)}，补全倍率 ${ratio(ratioOf(price, 'output'))}，${audio}分组倍率 ${ratio(price.group)}${silent}`;
}

const adjusted = '管理员将用户额度从 ';
const failed = '请求失败，状态码 ';

/** What lines begin with, all there are. */
const beginnings: readonly string[] = [
  '模型价格 ',
  '模型倍率 ',
  channelTest,
  adjusted,
  failed,
  ...Object.values(grants).map((grant) => `${grant} `),
];

/** Whether there can be a line whose words begin so. */
export const canBeginWith = (words: string): boolean =>
  beginnings.some((beginning) => beginning.startsWith(words) || words.startsWith(beginning));

export function contentOf(line: UsageLogEntry, style: QuotaStyle): string {
  const { detail } = line;
  if (detail === null) return consumption(line);
  switch (detail.kind) {
    case 'granted':
      return `${grants[detail.reason]} ${quotaText(detail.quota, style)}`;
    case 'adjusted': {
      const { observed, delta } = detail;
      return `${adjusted}${quotaText(observed, style)}修改为 ${quotaText(observed + delta, style)}`;
    }
    case 'channel-tested':
      return channelTest;
    case 'released':
      return `${failed}${detail.status ?? '无'}，错误 ${detail.code ?? detail.reason}`;
    default:
      return assertNever(detail);
  }
}
