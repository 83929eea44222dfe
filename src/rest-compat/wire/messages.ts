import type { Failure, FailureCode } from '../../domain/kernel/failure.js';
import type { Fixed } from '../../domain/options/option-table.js';

/*
 * What legacy consoles show. They use these texts as keys of their own translations, so those the contract knows are
 * kept to the character, full-width punctuation included.
 */

type Message = string | ((details: Failure['details']) => string);

const switches: Readonly<Record<string, string>> = {
  GitHubOAuthEnabled: '无法启用 GitHub OAuth，请先填入 GitHub Client Id 以及 GitHub Client Secret！',
  'oidc.enabled': '无法启用 OIDC 登录，请先填入 OIDC Client Id 以及 OIDC Client Secret！',
  LinuxDOOAuthEnabled: '无法启用 LinuxDO OAuth，请先填入 LinuxDO Client Id 以及 LinuxDO Client Secret！',
  EmailDomainRestrictionEnabled: '无法启用邮箱域名限制，请先填入限制的邮箱域名！',
  WeChatAuthEnabled: '无法启用微信登录，请先填入微信登录相关配置信息！',
  TurnstileCheckEnabled: '无法启用 Turnstile 校验，请先填入 Turnstile 校验相关配置信息！',
  TelegramOAuthEnabled: '无法启用 Telegram OAuth，请先填入 Telegram Bot Token！',
};

const groupRatio = 'GroupRatio.';

const optionValueInvalid: Message = ({ field, allowed }) => {
  const key = String(field);
  return key.startsWith(groupRatio)
    ? `group ratio must be not less than 0: ${key.slice(groupRatio.length)}`
    : `${key} 的值无效（${allowed}）`;
};

const whyFixed: Readonly<Record<Fixed, string>> = {
  'answers-unseen': '本网关不检查模型的输出，内容随到随转发',
  'prompts-refused': '提示词中含有敏感词的请求总是被拒绝',
  'counted-at-once': '统计数据即时更新，没有更新间隔',
  'never-queued': '流式输出即时转发，不做缓存',
};

const optionFixed: Message = ({ field, allowed, because }) =>
  `${field} 无法更改，只能为 ${allowed}：${whyFixed[because as Fixed]}`;

/** As they are written after "该 ": two of them without a space, as the contract has it. */
const boundElsewhere: Readonly<Record<string, string>> = {
  github: '该 GitHub 账户已被绑定',
  oidc: '该 OIDC 账户已被绑定',
  linuxdo: '该 Linux DO 账户已被绑定',
  wechat: '该微信账号已被绑定',
  telegram: '该 Telegram 账户已被绑定',
};

const providerOff: Readonly<Record<string, string>> = {
  github: '管理员未开启通过 GitHub 登录以及注册',
  oidc: '管理员未开启通过 OIDC 登录以及注册',
  linuxdo: '管理员未开启通过 Linux DO 登录以及注册',
  wechat: '管理员未开启通过微信登录以及注册',
  telegram: '管理员未开启通过 Telegram 登录以及注册',
};

/** LinuxDO's are English in the contract. */
const providerUnreachable: Message = ({ provider, step }) => {
  if (provider === 'linuxdo')
    return step === 'profile' ? 'failed to get user info from Linux DO' : 'failed to connect to Linux DO server';
  const name = { github: ' GitHub ', oidc: ' OIDC ', wechat: '微信' }[String(provider)] ?? '';
  return `无法连接至${name}服务器，请稍后重试！`;
};

const fieldEmpty = '返回值非法，用户字段为空，请稍后重试！';

const byProvider =
  (texts: Readonly<Record<string, string>>): Message =>
  ({ provider }) =>
    texts[String(provider)] ?? fieldEmpty;

const notFound = 'record not found';

export const usernameTaken = '用户名已存在，或已注销';

const messages: Readonly<Record<FailureCode, Message>> = {
  'invalid-field': ({ field, allowed }) => `无效的参数：${field}（${allowed}）`,
  'invalid-body': ({ allowed }) => (allowed === undefined ? '无效的参数' : `无效的参数：请求体（${allowed}）`),
  'password-too-short': '密码长度至少为8个字符',
  'passwords-differ': '两次输入的密码不一致',
  'username-blank': '输入不合法 用户名不能为空',
  'username-too-long': ({ max }) => `输入不合法 用户名最多 ${max} 个字符`,
  'display-name-too-long': ({ max }) => `输入不合法 显示名称最多 ${max} 个字符`,
  'password-length': ({ min, max }) => `输入不合法 密码长度须为 ${min} 到 ${max} 个字符`,
  'email-too-long': ({ max }) => `输入不合法 邮箱最多 ${max} 个字符`,
  'email-invalid': '无效的邮箱地址',
  'email-domain-not-allowed':
    'The administrator has enabled the email domain name whitelist, and your email address is not in the whitelist.',
  'email-alias-not-allowed': '管理员已启用邮箱地址别名限制，您的邮箱地址由于包含特殊符号而被拒绝。',
  'email-unknown': '该邮箱地址未注册',
  'email-code-needed': '管理员开启了邮箱验证，请输入邮箱地址和验证码',
  'email-code-wrong': '验证码错误或已过期',
  'reset-link-invalid': '重置链接非法或已过期',
  'quota-out-of-range': '无效的参数：额度超出允许范围',
  'api-key-name-too-long': '令牌名称过长',
  'model-name-too-long': ({ model }) => `模型名称过长: ${model}`,
  'redemption-name-length': ({ max }) => `兑换码名称长度必须在1-${max}之间`,
  'redemption-quota-too-small': '兑换码额度必须大于0',
  'redemption-count-too-small': '兑换码个数必须大于0',
  'redemption-count-too-large': ({ max }) => `一次兑换码批量生成的个数不能大于 ${max}`,
  'redemption-code-missing': '未提供兑换码',
  'redemption-code-own': '不能兑换自己生成的兑换码',
  'channel-key-missing': '渠道密钥不能为空',
  'channel-key-needed': '更改接口地址、渠道类型或代理时，请重新填写渠道密钥',
  'channel-type-unknown': '未知的渠道类型',
  'channel-type-not-served': '暂不支持该渠道类型',
  'region-missing': '部署地区不能为空',
  'region-default-missing': '部署地区必须包含default字段',
  'option-value-invalid': optionValueInvalid,
  'notify-type-invalid': '无效的预警类型',
  'warning-threshold-invalid': '预警阈值必须大于0',
  'webhook-url-missing': 'Webhook地址不能为空',
  'webhook-url-invalid': '无效的Webhook地址',
  'notification-email-invalid': '无效的邮箱地址',
  'not-signed-in': '无权进行此操作，未登录且未提供 access token',
  'access-token-unknown': '无权进行此操作，access token 无效',
  'wrong-credentials': '用户名或密码错误，或用户已被封禁',
  'password-login-closed': '管理员关闭了密码登录',
  'registration-closed': '管理员关闭了新用户注册',
  'password-registration-closed': '管理员关闭了通过密码进行注册，请使用第三方账户验证的形式进行注册',
  'human-check-missing': 'Turnstile token 为空',
  'human-check-failed': 'Turnstile 校验失败，请刷新重试！',
  'human-check-unavailable': '无法连接 Turnstile 校验服务，请稍后重试',
  'second-factor-wrong': '验证码或备用码错误，请重试',
  'second-factor-on': '您已启用两步验证',
  'second-factor-off': '您未启用两步验证',
  'second-factor-needed': '管理员须先启用两步验证',
  'half-sign-in-over': '登录已超时，请重新登录',
  'enrolment-over': '设置已超时，请重新开始',
  'step-up-needed': '请先完成安全验证',
  'sign-in-again-needed': '请重新登录，并在 10 分钟内完成此操作',
  'proof-not-fit': '请使用其他方式完成安全验证',
  'password-wrong': '密码错误',
  'passkey-not-found': notFound,
  'passkey-refused': '通行密钥验证失败',
  'passkey-counter-behind': '通行密钥可能已被复制，已拒绝使用',
  'passkey-taken': '该通行密钥已被绑定',
  'too-many-passkeys': ({ allowed }) => `通行密钥数量已达上限：每个用户最多 ${allowed} 个`,
  'session-not-found': notFound,
  'site-unknown': '当前访问地址与网关地址不符，请联系管理员设置服务器地址',
  'user-disabled': '用户已被封禁',
  'user-deleted': '用户已注销',
  'role-too-low': '无权进行此操作，权限不足',
  'peer-read-forbidden': '无权获取同级或更高等级用户的信息',
  'peer-update-forbidden': '无权更新同权限等级或更高权限等级的用户信息',
  'peer-delete-forbidden': '无权删除同权限等级或更高权限等级的用户',
  'role-raise-forbidden': '无权将其他用户权限等级提升到大于等于自己的权限等级',
  'role-create-forbidden': '无法创建权限大于等于自己的用户',
  'promote-forbidden': '普通管理员用户无法提升其他用户为管理员',
  'root-protected-disable': '无法禁用超级管理员用户',
  'root-protected-delete': '无法删除超级管理员用户',
  'root-protected-leave': '不能删除超级管理员账户',
  'root-protected-demote': '无法降级超级管理员用户',
  'already-admin': '该用户已经是管理员',
  'already-ordinary': '该用户已经是普通用户',
  'already-set-up': '系统已经初始化完成',
  'not-set-up': '系统尚未初始化',
  'setup-code-wrong': '初始化验证码错误，请查看网关日志',
  'too-many-attempts': '尝试次数过多，请稍后再试',
  'export-too-large': ({ allowed }) => `记录过多，最多导出 ${allowed} 条`,
  'username-taken': usernameTaken,
  'email-taken': '邮箱地址已被占用',
  'identity-taken': ({ provider }) => boundElsewhere[String(provider)] ?? '该账户已被绑定',
  'invite-code-taken': '邀请码生成失败，请重试',
  'invite-transfer-too-small': ({ allowed }) => `划转失败 转移额度最小为${allowed}！`,
  'invite-quota-short': '划转失败 邀请额度不足！',
  'other-identity-bound': '已绑定另一个账户，请先解除绑定',
  'last-door': '这是唯一的登录方式，请先设置密码或绑定其他账户',
  'provider-off': byProvider(providerOff),
  'sign-in-state-wrong': 'state is empty or not same',
  'sign-in-code-missing': ({ provider }) => (provider === 'linuxdo' ? 'invalid code' : '无效的参数'),
  'provider-unreachable': providerUnreachable,
  'provider-token-refused': byProvider({
    oidc: 'OIDC 获取 Token 失败，请检查设置！',
    linuxdo: 'failed to get access token: the code was refused',
  }),
  'provider-profile-refused': byProvider({
    oidc: 'OIDC 获取用户信息失败！请检查设置！',
    linuxdo: 'failed to get user info from Linux DO',
  }),
  'provider-profile-empty': byProvider({
    oidc: 'OIDC 获取用户信息为空！请检查设置！',
    linuxdo: 'invalid user info returned',
  }),
  'wechat-code-wrong': ({ said }) => String(said ?? '验证码错误或已过期'),
  'telegram-signature-wrong': '无效的请求',
  'telegram-not-bound': '该 Telegram 账户未绑定',
  'user-not-found': notFound,
  'api-key-not-found': notFound,
  'channel-not-found': notFound,
  'redemption-not-found': notFound,
  'redemption-not-unused': '只能修改未使用的兑换码',
  'redemption-used': '该兑换码已被使用',
  'redemption-code-unknown': '兑换失败，无效的兑换码',
  'redemption-code-used': '兑换失败，该兑换码已被使用',
  'api-key-expired-enable': '令牌已过期，无法启用，请先修改令牌过期时间，或者设置为永不过期',
  'api-key-exhausted-enable': '令牌可用额度已用尽，无法启用，请先修改令牌剩余额度，或者设置为无限额度',
  'too-many-api-keys': ({ allowed }) => `令牌数量已达上限：每个用户最多 ${allowed} 个令牌`,
  'channel-not-testable': '该渠道类型不支持测试',
  'test-run-under-way': '测试已在运行中',
  'balance-not-implemented': '尚未实现',
  'balance-not-told': ({ reason }) => String(reason),
  'models-not-listed': '该类型的渠道没有模型列表',
  'models-not-askable': ({ reason }) => String(reason),
  'models-not-told': ({ reason }) => String(reason),
  'engine-unreached': ({ reason }) => `该地址没有响应：${reason}`,
  'models-unreadable': ({ reason }) => `解析响应失败: ${reason}`,
  'read-model-not-stopped-there': '该读模型并未停在此事件',
  'books-stay-whole': '账本不能跳过任何事件',
  'option-prerequisite-missing': ({ field, needed }) => switches[String(field)] ?? `${field} 需要先填写 ${needed}`,
  'option-fixed': optionFixed,
  'option-changed': '该配置刚刚被他人修改，请刷新后重试',
  'price-changed': '该模型的价格刚刚被他人修改，请刷新后重试',
  'oidc-discovery-failed': '获取 OIDC 配置失败，请检查网络状况和 Well-Known URL 是否正确',
  'release-check-not-configured': '未配置 RELEASES_URL，无法检查更新',
  'release-check-failed': ({ reason }) => `检查更新失败: ${reason}`,
  'price-source-unknown': '价格来源不存在',
  'price-source-failed': ({ reason }) => `无法获取价格表: ${reason}`,
  'price-list-changed': '价格表已重新读取，请重新查看差异',
  'price-below-purchase': '有分组的价格低于进货价，请确认后再应用',
  'price-list-unreadable': ({ reason }) => `无法读取价格表: ${reason}`,
  'lost-race': '数据刚刚被他人修改，请重试',
  'form-outdated': '页面数据已过期，请刷新后重试',
  'idempotency-key-reused': '该幂等键已用于另一个请求，请刷新后重试',
  'insufficient-user-quota': '用户额度不足',
  'insufficient-api-key-quota': '该令牌额度已用尽',
  'price-missing': ({ model }) =>
    `模型 ${model} 倍率或价格未配置, 请联系管理员设置；Model ${model} ratio or price not set, please contact administrator to set`,
  'upstream-failed': '请求上游地址失败',
  'payment-not-configured': '当前管理员未配置支付信息',
  'payment-not-begun': '拉起支付失败',
  'payment-unanswered': '支付平台没有应答，请稍后重试',
  'payment-not-found': notFound,
  'repair-not-found': '没有该价格修正',
  'repair-under-way': '该价格修正仍在入账',
  'repair-preview-outdated': '预览之后记录有变化，请重新预览',
  'payment-differs': ({ allowed }) => `支付金额或方式与订单不符（订单金额 ${allowed}）`,
  'payment-completed': '该订单已完成',
  'top-up-too-small': ({ min }) => `充值数量不能小于 ${min}`,
  'top-up-too-cheap': '充值金额过低',
  'too-many-open-payments': ({ allowed }) => `未支付的订单过多：最多 ${allowed} 个，请先支付或等待其过期`,
  'mail-not-configured': 'SMTP 服务器未配置',
  'webhook-failed': ({ reason }) => `更新设置失败: ${reason}`,
  'mail-failed': ({ reason }) => `邮件发送失败：${reason}`,
  'usage-log-cleared': '该月的使用日志已被清理，无法完整导出；账单仍可导出',
  'period-not-ready': ({ reason }) => `该账期现在无法结账：${reason}`,
  'period-not-closed': ({ period }) => `账期 ${period} 尚未结账`,
  'log-archived': ({ period, file }) => `账期 ${period} 的调用已归档到 ${file}，需先读回`,
  'archive-missing': ({ file, reason }) => `归档文件 ${file} 无法读取：${reason}`,
  'store-unavailable': '数据库错误，请稍后重试',
  'outcome-unknown': '数据库暂时没有应答，操作结果未知；请原样重试，不会重复执行',
  'event-too-large': '内容过大，无法保存',
  'stream-too-large': '历史记录过大，无法处理',
  'query-too-slow': '查询耗时过长，请缩小筛选范围（例如时间段）后重试',
  'store-busy': '数据库繁忙，请稍后重试',
};

export function messageOf({ code, details }: Failure): string {
  const message = messages[code];
  return typeof message === 'string' ? message : message(details);
}
