import { texts } from '../kit/words/i18n.js';
import { receiptEn } from './receipt.en.js';
import { receiptZh } from './receipt.zh.js';

export const receiptTexts = texts('receipt', receiptZh, receiptEn);
