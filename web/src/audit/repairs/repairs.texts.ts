import { texts } from '../../kit/words/i18n.js';
import { repairsEn } from './repairs.en.js';
import { repairsZh } from './repairs.zh.js';

export const repairsTexts = texts('repairs', repairsZh, repairsEn);
