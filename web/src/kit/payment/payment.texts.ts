import { texts } from '../words/i18n.js';
import { paymentEn } from './payment.en.js';
import { paymentZh } from './payment.zh.js';

export const paymentTexts = texts('payment', paymentZh, paymentEn);
