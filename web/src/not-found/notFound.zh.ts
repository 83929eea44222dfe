export const notFoundZh = {
  home: '返回首页',
  hint: '页面不存在，请检查您的浏览器地址是否正确。',
  title: '页面不存在',
} as const;
