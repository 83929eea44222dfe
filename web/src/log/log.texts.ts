import { texts } from '../kit/words/i18n.js';
import { logEn } from './log.en.js';
import { logZh } from './log.zh.js';

export const logTexts = texts('log', logZh, logEn);
