export const walletZh = {
  title: '钱包',
  'balance.title': '余额',
  'balance.available': '当前余额',
  'balance.used': '历史消耗',
  'balance.requests': '请求次数',
  'redeem.title': '兑换码充值',
  'redeem.code': '兑换码',
  'redeem.hint': '32 个字符，每个兑换码只能使用一次',
  'redeem.submit': '兑换',
  'redeem.done': '兑换成功，余额增加 {{quota}}',
  'redeem.missing': '请输入兑换码',
  'redeem.link': '购买兑换码',
} as const;
