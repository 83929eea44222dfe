export const aboutZh = {
  title: '关于',
  heading: '关于 {{name}}',
  what: '这是一个 AI 模型 API 网关：一个地址连接多家上游。它为每次调用预留额度、转发并结算。',
  proof: '每次调用都是一条不再改变的事件，连同价格的每个因子一起保存，因此任何一笔收费都可以重新计算。',
  version: 'Tallygate，版本 {{version}}',
  root: '在设置中编写此页',
} as const;
