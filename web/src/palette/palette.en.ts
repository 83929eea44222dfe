import type { Translation } from '../kit/words/i18n.js';
import type { paletteZh } from './palette.zh.js';

export const paletteEn: Translation<typeof paletteZh> = {
  'kind.channel': 'Channel',
  'kind.key': 'Token',
  'kind.page': 'Page',
  'kind.user': 'User',
  list: 'Matches',
  nothing: 'Nothing matches',
  placeholder: 'Name of a page, a channel, a user or a token',
  searching: 'Searching',
  title: 'Go to',
};
