import { texts } from '../kit/words/i18n.js';
import { securityEn } from './security.en.js';
import { securityZh } from './security.zh.js';

export const securityTexts = texts('security', securityZh, securityEn);
