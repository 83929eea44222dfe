import { commonEn } from './common.en.js';
import { commonZh } from './common.zh.js';
import { texts } from './i18n.js';

export const commonTexts = texts('common', commonZh, commonEn);
