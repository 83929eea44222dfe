import { texts } from '../kit/words/i18n.js';
import { tasksEn } from './tasks.en.js';
import { tasksZh } from './tasks.zh.js';

export const tasksTexts = texts('tasks', tasksZh, tasksEn);
