import { texts } from '../kit/words/i18n.js';
import { dashboardEn } from './dashboard.en.js';
import { dashboardZh } from './dashboard.zh.js';

export const dashboardTexts = texts('dashboard', dashboardZh, dashboardEn);
