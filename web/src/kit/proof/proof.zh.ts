export const proofZh = {
  code: '验证码',
  'code.hint': '验证器应用中的 6 位验证码，或一个备用码',
  'code.missing': '请输入验证码',
  passkey: '使用通行密钥',
  'stepUp.explain': '此操作需要再次确认是您本人。',
  'stepUp.submit': '确认',
  'stepUp.title': '安全验证',
} as const;
