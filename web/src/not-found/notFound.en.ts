import type { Translation } from '../kit/words/i18n.js';
import type { notFoundZh } from './notFound.zh.js';

export const notFoundEn: Translation<typeof notFoundZh> = {
  home: 'Back to the start',
  hint: 'There is no page at this address. Check whether it is spelled right.',
  title: 'Page does not exist',
};
