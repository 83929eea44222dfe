import { texts } from '../kit/words/i18n.js';
import { channelsEn } from './channels.en.js';
import { channelsZh } from './channels.zh.js';

export const channelsTexts = texts('channels', channelsZh, channelsEn);
