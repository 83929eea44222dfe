import { texts } from '../kit/words/i18n.js';
import { sealsEn } from './seals.en.js';
import { sealsZh } from './seals.zh.js';

export const sealTexts = texts('seals', sealsZh, sealsEn);
