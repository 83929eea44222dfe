import { texts } from '../kit/words/i18n.js';
import { paletteEn } from './palette.en.js';
import { paletteZh } from './palette.zh.js';

export const paletteTexts = texts('palette', paletteZh, paletteEn);
