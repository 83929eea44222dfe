import { texts } from '../kit/words/i18n.js';
import { booksEn } from './books.en.js';
import { booksZh } from './books.zh.js';

export const booksTexts = texts('books', booksZh, booksEn);
