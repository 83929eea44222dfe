import { texts } from '../kit/words/i18n.js';
import { channelPageEn } from './channelPage.en.js';
import { channelPageZh } from './channelPage.zh.js';

export const channelPageTexts = texts('channelPage', channelPageZh, channelPageEn);
