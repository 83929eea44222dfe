import { texts } from '../kit/words/i18n.js';
import { pricingEn } from './pricing.en.js';
import { pricingZh } from './pricing.zh.js';

export const pricingTexts = texts('pricing', pricingZh, pricingEn);
