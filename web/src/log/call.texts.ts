import { texts } from '../kit/words/i18n.js';
import { callEn } from './call.en.js';
import { callZh } from './call.zh.js';

export const callTexts = texts('call', callZh, callEn);
