export const paletteZh = {
  'kind.channel': '渠道',
  'kind.key': '令牌',
  'kind.page': '页面',
  'kind.user': '用户',
  list: '搜索结果',
  nothing: '没有匹配的结果',
  placeholder: '输入页面、渠道、用户或令牌的名称',
  searching: '正在搜索',
  title: '快速前往',
} as const;
