import { texts } from '../../kit/words/i18n.js';
import { whatIfEn } from './whatIf.en.js';
import { whatIfZh } from './whatIf.zh.js';

export const whatIfTexts = texts('whatIf', whatIfZh, whatIfEn);
