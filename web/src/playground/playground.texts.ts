import { texts } from '../kit/words/i18n.js';
import { playgroundEn } from './playground.en.js';
import { playgroundZh } from './playground.zh.js';

export const playgroundTexts = texts('playground', playgroundZh, playgroundEn);
