import { texts } from '../kit/words/i18n.js';
import { notFoundEn } from './notFound.en.js';
import { notFoundZh } from './notFound.zh.js';

export const notFoundTexts = texts('notFound', notFoundZh, notFoundEn);
