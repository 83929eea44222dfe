import { texts } from '../words/i18n.js';
import { channelStateEn } from './channelState.en.js';
import { channelStateZh } from './channelState.zh.js';

export const channelStateTexts = texts('channelState', channelStateZh, channelStateEn);
