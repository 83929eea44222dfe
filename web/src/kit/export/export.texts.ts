import { texts } from '../words/i18n.js';
import { exportEn } from './export.en.js';
import { exportZh } from './export.zh.js';

export const exportTexts = texts('export', exportZh, exportEn);
