import { texts } from '../words/i18n.js';
import { checksEn } from './checks.en.js';
import { checksZh } from './checks.zh.js';

export const checksTexts = texts('checks', checksZh, checksEn);
