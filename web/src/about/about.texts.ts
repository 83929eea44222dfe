import { texts } from '../kit/words/i18n.js';
import { aboutEn } from './about.en.js';
import { aboutZh } from './about.zh.js';

export const aboutTexts = texts('about', aboutZh, aboutEn);
