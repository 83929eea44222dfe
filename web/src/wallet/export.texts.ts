import { texts } from '../kit/words/i18n.js';
import { exportEn } from './export.en.js';
import { exportZh } from './export.zh.js';

export const walletExportTexts = texts('walletExport', exportZh, exportEn);
