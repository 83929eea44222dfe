import { type QuotaStyle, quotaText } from '../application/quota-text.js';
import { toldDetail } from '../application/usage/log-alias.js';
import { assertNever } from '../domain/kernel/failure.js';
import { minus, zero } from '../domain/kernel/quota.js';
import { priceByPlainInput } from '../domain/pricing/context-tiers.js';
import type { Price } from '../domain/pricing/pricing.js';
import { quantityRatio } from '../domain/pricing/rates.js';
import type { GiftReason, LogDetail, ReturnCause } from '../projections/models/usage-log/log-detail.js';
import type { LogType, logTypes } from '../projections/models/usage-log/usage-log.js';
import type { UsageLogEntry } from '../projections/models/usage-log/usage-log-queries.js';
import { audioRatiosOf, isAudioChat } from './audio-chat.js';

/* What a log line says in words. Lines hold facts; the sentence is made when somebody reads it. */

const grants: Readonly<Record<GiftReason, string>> = {
  setup: '系统初始化赠送',
  signup: '新用户注册赠送',
  invitee: '使用邀请码赠送',
  inviter: '邀请用户赠送',
};

const channelTest = '模型测试';
const upstreamSilent = '（可能是上游超时）';

const fixedPrice = '模型固定价格 ';
const taskGroup = '分组倍率 ';
const corrected = '价格修正：请求 ';
const drawingFailed = '构图失败 ';
const taskFailed = '异步任务执行失败 ';

const ratio = (text: string): string => Number(text).toFixed(2);

type Correction = Extract<LogDetail, { kind: 'corrected' }>;

function correction({ part, quota, charged }: Correction, call: string | null, style: QuotaStyle): string {
  const moved = quota < 0 ? `，补扣 ${quotaText(minus(zero, quota), style)}` : `，退回 ${quotaText(quota, style)}`;
  const undone = part === 'undo' ? '（撤销）' : '';
  return `${corrected}${call ?? ''}${undone}${moved}，现扣费 ${quotaText(charged, style)}`;
}

type SubmittedTask = Extract<LogDetail, { kind: 'task-submitted' }>;
type RefundedTask = Extract<LogDetail, { kind: 'task-refunded' }>;

/** Music and videos, and drawings of faces, have no id in it. */
function taskConsumption({ platform, action, publicId }: SubmittedTask, price: Price): string {
  const id = platform === 'midjourney' && action !== 'SWAP_FACE' ? `，ID ${publicId}` : '';
  const paid = price.per === 'call' ? `${fixedPrice}${ratio(price.price)}，` : '';
  return `${paid}${taskGroup}${ratio(price.group)}，操作 ${action}${id}`;
}

function taskRefund({ platform, publicId, quota }: RefundedTask, style: QuotaStyle): string {
  const begins = platform === 'midjourney' ? drawingFailed : taskFailed;
  return `${begins}${publicId}，补偿 ${quotaText(quota, style)}`;
}

/** Of pictures that are sold by the picture; null: the call made none, or costs by tokens. */
function picturePrice({ pieces }: Price): { readonly usd: string; readonly ordered: string } | null {
  const usd = pieces?.dollars.images;
  if (pieces?.picture === undefined || usd === undefined) return null;
  return { usd, ordered: `，大小 ${pieces.picture.size}，品质 ${pieces.picture.quality}` };
}

function consumption(line: UsageLogEntry): string {
  const { price, prompt_tokens, completion_tokens } = line;
  if (price === null) return '';
  if (line.detail?.kind === 'task-submitted') return taskConsumption(line.detail, price);
  const service =
    price.service === undefined ? '' : `，服务层级 ${price.service.tier} 倍率 ${ratio(price.service.factor)}`;
  const picture = picturePrice(price);
  if (picture !== null)
    return `模型价格 ${Number(picture.usd).toFixed(3)}，分组倍率 ${ratio(price.group)}${service}${picture.ordered}`;
  const silent = prompt_tokens + completion_tokens === 0 ? upstreamSilent : '';
  if (price.per === 'call') return `模型价格 ${ratio(price.price)}，分组倍率 ${ratio(price.group)}${service}${silent}`;
  const inForce = priceByPlainInput(price, line.usage);
  const { input, completion } = audioRatiosOf(inForce);
  const audio = isAudioChat(line) ? `音频倍率 ${input.toFixed(2)}，音频补全倍率 ${completion.toFixed(2)}，` : '';
  return `模型倍率 ${ratio(inForce.model)}，补全倍率 ${ratio(quantityRatio(inForce, 'output'))}，${audio}分组倍率 ${ratio(price.group)}${service}${silent}`;
}

const toppedUp = '使用在线充值成功，充值金额: ';
const returned: Readonly<Record<ReturnCause, { readonly begins: string; readonly money: string }>> = {
  refund: { begins: '在线充值退款，扣除额度: ', money: '退款金额' },
  dispute: { begins: '在线充值被拒付，扣除额度: ', money: '拒付金额' },
  'dispute-won': { begins: '在线充值拒付已撤销，返还额度: ', money: '返还金额' },
};
const adjusted = '管理员将用户额度从 ';
const revoked = '管理员禁用了令牌 ';
const issuedCode = '管理员生成兑换码 ';
const editedCode = '管理员修改兑换码 ';
const redeemed = '通过兑换码充值 ';
const failed = '请求失败，状态码 ';
const refused = '请求被拒绝，状态码 ';

export const lineKinds: typeof logTypes = { recharge: 1, consume: 2, manage: 3, system: 4, error: 5 };
const { recharge, consume, manage, system, error } = lineKinds;

/** What lines begin with, all there are, by the kind of the line. */
const beginnings: readonly (readonly [LogType, string])[] = [
  [consume, '模型价格 '],
  [consume, '模型倍率 '],
  [consume, fixedPrice],
  [consume, taskGroup],
  [system, drawingFailed],
  [system, taskFailed],
  [system, corrected],
  [consume, channelTest],
  [recharge, toppedUp],
  ...Object.values(returned).map(({ begins }) => [system, begins] as const),
  [manage, adjusted],
  [manage, revoked],
  [manage, issuedCode],
  [manage, editedCode],
  [recharge, redeemed],
  [error, failed],
  [error, refused],
  ...Object.values(grants).map((grant) => [system, `${grant} `] as const),
];

/** Of which kinds lines are whose words can begin so; none: there can be no such line. */
export const typesBeginningWith = (words: string): ReadonlySet<LogType> =>
  new Set(
    beginnings
      .filter(([, beginning]) => beginning.startsWith(words) || words.startsWith(beginning))
      .map(([type]) => type),
  );

export function logContent(line: UsageLogEntry, style: QuotaStyle): string {
  const detail = toldDetail(line.detail);
  if (detail === null) return consumption(line);
  switch (detail.kind) {
    case 'granted':
      return `${grants[detail.reason]} ${quotaText(detail.quota, style)}`;
    case 'adjusted': {
      const { observed, delta } = detail;
      return `${adjusted}${quotaText(observed, style)}修改为 ${quotaText(observed + delta, style)}`;
    }
    case 'api-key-revoked':
      return `${revoked}${detail.name}`;
    case 'topped-up':
      return `${toppedUp}${quotaText(detail.quota, style)}，支付金额：${Number(detail.money).toFixed(6)}`;
    case 'top-up-returned': {
      const { begins, money } = returned[detail.cause];
      return `${begins}${quotaText(Math.abs(detail.quota), style)}，${money}：${Number(detail.money).toFixed(6)}`;
    }
    case 'code-issued':
      return `${detail.edited ? editedCode : issuedCode}${quotaText(detail.quota, style)}，兑换码ID ${detail.redemption}`;
    case 'redeemed':
      return `${redeemed}${quotaText(detail.quota, style)}，兑换码ID ${detail.redemption}`;
    case 'task-refunded':
      return taskRefund(detail, style);
    case 'corrected':
      return correction(detail, line.request_id, style);
    case 'channel-tested':
      return channelTest;
    case 'released':
      return `${failed}${detail.status ?? '无'}，错误 ${detail.code ?? detail.reason}`;
    case 'refused': {
      const others = detail.since === null ? '' : `，同类请求共 ${detail.count} 次，不再逐条记录`;
      return `${refused}${detail.status}，错误 ${detail.code}${others}`;
    }
    default:
      return assertNever(detail);
  }
}
