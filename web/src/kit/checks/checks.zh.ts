export const checksZh = {
  'code.again': '{{seconds}} 秒后重新发送',
  'code.send': '获取验证码',
  'code.sent': '验证码已发送',
  'human.again': '重试',
  'human.loading': '正在加载人机验证',
  'human.unavailable': '无法加载人机验证。',
  'human.wait': '请等待人机验证完成',
} as const;
