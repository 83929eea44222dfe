import { texts } from '../../kit/words/i18n.js';
import { administratorsEn } from './administrators.en.js';
import { administratorsZh } from './administrators.zh.js';

export const administratorsTexts = texts('administrators', administratorsZh, administratorsEn);
