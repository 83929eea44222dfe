import { texts } from '../kit/words/i18n.js';
import { personalEn } from './personal.en.js';
import { personalZh } from './personal.zh.js';

export const personalTexts = texts('personal', personalZh, personalEn);
