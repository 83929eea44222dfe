import { texts } from '../kit/words/i18n.js';
import { tokensEn } from './tokens.en.js';
import { tokensZh } from './tokens.zh.js';

export const tokensTexts = texts('tokens', tokensZh, tokensEn);
