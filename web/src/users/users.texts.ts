import { texts } from '../kit/words/i18n.js';
import { usersEn } from './users.en.js';
import { usersZh } from './users.zh.js';

export const usersTexts = texts('users', usersZh, usersEn);
