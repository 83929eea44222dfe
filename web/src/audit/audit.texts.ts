import { texts } from '../kit/words/i18n.js';
import { auditEn } from './audit.en.js';
import { auditZh } from './audit.zh.js';

export const auditTexts = texts('audit', auditZh, auditEn);
