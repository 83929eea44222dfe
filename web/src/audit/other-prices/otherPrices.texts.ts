import { texts } from '../../kit/words/i18n.js';
import { otherPricesEn } from './otherPrices.en.js';
import { otherPricesZh } from './otherPrices.zh.js';

export const otherPricesTexts = texts('otherPrices', otherPricesZh, otherPricesEn);
