import { texts } from './i18n.js';
import { quantitiesEn } from './quantities.en.js';
import { quantitiesZh } from './quantities.zh.js';

/** What tokens are called by what they were used for, wherever a price stands. */
export const quantitiesTexts = texts('quantities', quantitiesZh, quantitiesEn);
