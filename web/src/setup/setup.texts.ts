import { texts } from '../kit/words/i18n.js';
import { setupEn } from './setup.en.js';
import { setupZh } from './setup.zh.js';

export const setupTexts = texts('setup', setupZh, setupEn);
