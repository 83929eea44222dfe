import type { Translation } from './i18n.js';
import type { quantitiesZh } from './quantities.zh.js';

export const quantitiesEn: Translation<typeof quantitiesZh> = {
  input: 'Input',
  cachedInput: 'Cache read',
  cacheWrite: 'Cache written',
  cacheWriteHour: 'Cache written, 1 h or more',
  imageInput: 'Image input',
  audioInput: 'Audio input',
  output: 'Output',
  reasoning: 'Reasoning',
  imageOutput: 'Image output',
  audioOutput: 'Audio output',
};
