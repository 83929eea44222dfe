export const exportZh = {
  saved: '已下载 {{name}}',
  'failed.busy': '同时下载的文件过多，请等其他文件下载完成后再试',
  'failed.tooLarge': '符合条件的记录超过 {{max}} 条，请缩短时间范围或增加筛选条件',
  'failed.rebuilding': '数据尚未就绪，请稍后再试',
  'failed.broken': '下载中断，未保存任何内容，请重试',
  'failed.unreadable': '无法下载：服务器的回答无法读取（{{status}}）',
  'failed.other': '无法下载：{{reason}}',
} as const;
