import { texts } from '../kit/words/i18n.js';
import { settingsEn } from './settings.en.js';
import { settingsZh } from './settings.zh.js';

export const settingsTexts = texts('settings', settingsZh, settingsEn);
