import { texts } from '../../kit/words/i18n.js';
import { pricesEn } from './prices.en.js';
import { pricesZh } from './prices.zh.js';

export const pricesTexts = texts('prices', pricesZh, pricesEn);
