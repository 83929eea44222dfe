import { texts } from '../shared/words/i18n.js';
import { channelsEn } from './channels.en.js';
import { channelsZh } from './channels.zh.js';

export const channelsTexts = texts('channels', channelsZh, channelsEn);
