import { texts } from '../kit/words/i18n.js';
import { fetchModelsEn } from './fetchModels.en.js';
import { fetchModelsZh } from './fetchModels.zh.js';

export const fetchModelsTexts = texts('fetchModels', fetchModelsZh, fetchModelsEn);
