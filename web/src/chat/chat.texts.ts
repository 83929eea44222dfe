import { texts } from '../kit/words/i18n.js';
import { chatEn } from './chat.en.js';
import { chatZh } from './chat.zh.js';

export const chatTexts = texts('chat', chatZh, chatEn);
