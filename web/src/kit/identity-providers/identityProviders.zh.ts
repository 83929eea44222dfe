export const identityProvidersZh = {
  or: '或',
  signIn: '使用 {{provider}} 登录',
  'telegram.failed': '无法加载 Telegram 的登录按钮。',
  'telegram.loading': '正在加载 Telegram 的登录按钮',
  'telegram.title': '使用 Telegram 登录',
  'wechat.code': '验证码',
  'wechat.hint': '微信扫码关注公众号，发送“验证码”获取验证码，三分钟内有效。',
  'wechat.missing': '请输入验证码',
  'wechat.picture': '公众号二维码',
  'wechat.title': '微信登录',
} as const;
