import { texts } from '../words/i18n.js';
import { refusalEn } from './refusal.en.js';
import { refusalZh } from './refusal.zh.js';

export const refusalTexts = texts('refusal', refusalZh, refusalEn);
