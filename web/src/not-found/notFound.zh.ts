export const notFoundZh = {
  'drawing.none':
    '本网关不转发 Midjourney 绘图任务，因此没有可显示的任务。模型生成的图片属于普通调用，请查看使用日志。',
  'drawing.title': '没有绘图任务',
  home: '返回首页',
  hint: '页面不存在，请检查您的浏览器地址是否正确。',
  'tasks.none': '本网关不转发 Suno 等异步任务，因此没有可显示的任务。所有调用请查看使用日志。',
  'tasks.title': '没有任务',
  title: '页面不存在',
  toLog: '查看使用日志',
} as const;
