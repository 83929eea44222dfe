import { texts } from '../kit/words/i18n.js';
import { walletEn } from './wallet.en.js';
import { walletZh } from './wallet.zh.js';

export const walletTexts = texts('wallet', walletZh, walletEn);
