import { texts } from '../kit/words/i18n.js';
import { accountEn } from './account.en.js';
import { accountZh } from './account.zh.js';

export const accountTexts = texts('account', accountZh, accountEn);
