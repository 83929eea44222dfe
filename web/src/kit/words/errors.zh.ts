export const errorsZh = {
  demoOnly: '本站仅作演示之用，无服务端',
  internal: '服务器内部错误，请联系管理员',
  other: '错误：{{message}}',
  tooMany: '请求次数过多，请稍后再试',
  unreachable: '无法连接至服务器',
  unreadable: '服务器的回答无法读取',
} as const;
