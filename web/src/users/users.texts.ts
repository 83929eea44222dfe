import { texts } from '../shared/words/i18n.js';
import { usersEn } from './users.en.js';
import { usersZh } from './users.zh.js';

export const usersTexts = texts('users', usersZh, usersEn);
