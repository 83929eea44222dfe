export const exportZh = {
  title: '账单导出',
  note: '时间按 {{zone}} 时区。账单以月初余额开头、以月末余额结尾，中间是每一笔变动；本月截至当前时刻。',
  month: '月份',
  'month.current': '{{month}}（截至目前）',
  usage: '用量明细（CSV）',
  statement: '账单（CSV）',
} as const;
