export const exportZh = {
  title: '账单导出',
  note: '时间按 {{zone}} 时区。账单以月初余额开头、以月末余额结尾，中间是每一笔变动；本月截至当前时刻。',
  month: '月份',
  'month.current': '{{month}}（截至目前）',
  usage: '用量明细（CSV）',
  statement: '账单（CSV）',
  saved: '已下载 {{name}}',
  'failed.busy': '同时下载的文件过多，请等其他文件下载完成后再试',
  'failed.rebuilding': '账单数据尚未就绪，请稍后再试',
  'failed.broken': '下载中断，未保存任何内容，请重试',
  'failed.unreadable': '无法下载：服务器的回答无法读取（{{status}}）',
  'failed.other': '无法下载：{{reason}}',
} as const;
