import type { Failure, FailureCode } from '../../domain/failure.js';

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

const notFound = 'record not found';

const messages: Readonly<Record<FailureCode, Message>> = {
  'invalid-field': ({ field, allowed }) => `无效的参数：${field}（${allowed}）`,
  'invalid-body': '无效的参数',
  'password-too-short': '密码长度至少为8个字符',
  'passwords-differ': '两次输入的密码不一致',
  'username-blank': '输入不合法 用户名不能为空',
  'username-too-long': ({ max }) => `输入不合法 用户名最多 ${max} 个字符`,
  'display-name-too-long': ({ max }) => `输入不合法 显示名称最多 ${max} 个字符`,
  'password-length': ({ min, max }) => `输入不合法 密码长度须为 ${min} 到 ${max} 个字符`,
  'email-too-long': ({ max }) => `输入不合法 邮箱最多 ${max} 个字符`,
  'quota-out-of-range': '无效的参数：额度超出允许范围',
  'api-key-name-too-long': '令牌名称过长',
  'model-name-too-long': ({ model }) => `模型名称过长: ${model}`,
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
  'user-disabled': '用户已被封禁',
  'role-too-low': '无权进行此操作，权限不足',
  'peer-read-forbidden': '无权获取同级或更高等级用户的信息',
  'peer-update-forbidden': '无权更新同权限等级或更高权限等级的用户信息',
  'peer-delete-forbidden': '无权删除同权限等级或更高权限等级的用户',
  'role-raise-forbidden': '无权将其他用户权限等级提升到大于等于自己的权限等级',
  'role-create-forbidden': '无法创建权限大于等于自己的用户',
  'promote-forbidden': '普通管理员用户无法提升其他用户为管理员',
  'root-protected-disable': '无法禁用超级管理员用户',
  'root-protected-delete': '无法删除超级管理员用户',
  'root-protected-demote': '无法降级超级管理员用户',
  'already-admin': '该用户已经是管理员',
  'already-ordinary': '该用户已经是普通用户',
  'already-set-up': '系统已经初始化完成',
  'not-set-up': '系统尚未初始化',
  'setup-code-wrong': '初始化验证码错误，请查看网关日志',
  'too-many-attempts': '尝试次数过多，请稍后再试',
  'username-taken': '用户名已存在，或已注销',
  'user-not-found': notFound,
  'api-key-not-found': notFound,
  'channel-not-found': notFound,
  'api-key-expired-enable': '令牌已过期，无法启用，请先修改令牌过期时间，或者设置为永不过期',
  'api-key-exhausted-enable': '令牌可用额度已用尽，无法启用，请先修改令牌剩余额度，或者设置为无限额度',
  'too-many-api-keys': ({ allowed }) => `令牌数量已达上限：每个用户最多 ${allowed} 个令牌`,
  'channel-not-testable': '该渠道类型不支持测试',
  'read-model-not-stopped-there': '该读模型并未停在此事件',
  'books-stay-whole': '账本不能跳过任何事件',
  'option-prerequisite-missing': ({ field, needed }) => switches[String(field)] ?? `${field} 需要先填写 ${needed}`,
  'lost-race': '数据刚刚被他人修改，请重试',
  'form-outdated': '页面数据已过期，请刷新后重试',
  'idempotency-key-reused': '该幂等键已用于另一个请求，请刷新后重试',
  'insufficient-user-quota': '用户额度不足',
  'insufficient-api-key-quota': '该令牌额度已用尽',
  'price-missing': ({ model }) =>
    `模型 ${model} 倍率或价格未配置, 请联系管理员设置；Model ${model} ratio or price not set, please contact administrator to set`,
  'upstream-failed': '请求上游地址失败',
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
