export const quantitiesZh = {
  input: '输入',
  cachedInput: '缓存读取',
  cacheWrite: '缓存写入',
  cacheWriteHour: '缓存写入（1 小时及以上）',
  imageInput: '图片输入',
  audioInput: '音频输入',
  output: '输出',
  reasoning: '推理',
  imageOutput: '图片输出',
  audioOutput: '音频输出',
} as const;
