import { texts } from '../kit/words/i18n.js';
import { topUpEn } from './topUp.en.js';
import { topUpZh } from './topUp.zh.js';

export const topUpTexts = texts('topUp', topUpZh, topUpEn);
