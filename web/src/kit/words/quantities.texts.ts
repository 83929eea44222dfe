import { texts } from './i18n.js';
import { quantitiesEn } from './quantities.en.js';
import { quantitiesZh } from './quantities.zh.js';

/** What is used and priced, wherever a price stands: tokens by what they were used for, then all else as bills name it. */
export const quantitiesTexts = texts('quantities', quantitiesZh, quantitiesEn);
