import { texts } from '../kit/words/i18n.js';
import { redemptionEn } from './redemption.en.js';
import { redemptionZh } from './redemption.zh.js';

export const redemptionTexts = texts('redemption', redemptionZh, redemptionEn);
