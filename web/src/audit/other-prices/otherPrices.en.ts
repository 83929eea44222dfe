import type { Translation } from '../../kit/words/i18n.js';
import type { otherPricesZh } from './otherPrices.zh.js';

export const otherPricesEn: Translation<typeof otherPricesZh> = {
  from: 'From',
  to: 'To',
  'to.wrong': 'Later than From',
  prices: 'Price table',
  'prices.hint': 'A file as the settings export it. Models that it leaves out keep their price.',
  'prices.tooLarge': 'The file has more than 640 KiB',
  ratios: 'Ratios of groups',
  'ratios.hint': 'Groups that are left out keep their ratio.',
  group: 'Group',
  ratio: 'Ratio',
  'ratio.wrong': 'A decimal number from 0, such as 0.8',
  'ratio.add': 'Add a group',
  'ratio.remove': 'Remove the group {{group}}',
};
