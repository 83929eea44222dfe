import { texts } from '../../kit/words/i18n.js';
import { updatesEn } from './updates.en.js';
import { updatesZh } from './updates.zh.js';

export const updatesTexts = texts('updates', updatesZh, updatesEn);
