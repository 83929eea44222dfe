import { texts } from '../words/i18n.js';
import { proofEn } from './proof.en.js';
import { proofZh } from './proof.zh.js';

export const proofTexts = texts('proof', proofZh, proofEn);
