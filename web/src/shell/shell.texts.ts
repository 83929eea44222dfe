import { texts } from '../kit/words/i18n.js';
import { shellEn } from './shell.en.js';
import { shellZh } from './shell.zh.js';

export const shellTexts = texts('shell', shellZh, shellEn);
