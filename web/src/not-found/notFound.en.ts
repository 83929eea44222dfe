import type { Translation } from '../kit/words/i18n.js';
import type { notFoundZh } from './notFound.zh.js';

export const notFoundEn: Translation<typeof notFoundZh> = {
  'drawing.none':
    'This gateway relays no drawing tasks of Midjourney, so there are none to list. Pictures made by models are calls and stand in the usage log.',
  'drawing.title': 'No drawing tasks',
  home: 'Back to the start',
  hint: 'There is no page at this address. Check whether it is spelled right.',
  'tasks.none':
    'This gateway relays no asynchronous tasks such as Suno’s, so there are none to list. All calls stand in the usage log.',
  'tasks.title': 'No tasks',
  title: 'Page does not exist',
  toLog: 'To the usage log',
};
