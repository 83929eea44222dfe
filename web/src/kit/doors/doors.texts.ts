import { texts } from '../words/i18n.js';
import { doorsEn } from './doors.en.js';
import { doorsZh } from './doors.zh.js';

export const doorsTexts = texts('doors', doorsZh, doorsEn);
