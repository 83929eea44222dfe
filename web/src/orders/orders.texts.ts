import { texts } from '../kit/words/i18n.js';
import { ordersEn } from './orders.en.js';
import { ordersZh } from './orders.zh.js';

export const ordersTexts = texts('orders', ordersZh, ordersEn);
