import { texts } from '../kit/words/i18n.js';
import { homeEn } from './home.en.js';
import { homeZh } from './home.zh.js';

export const homeTexts = texts('home', homeZh, homeEn);
