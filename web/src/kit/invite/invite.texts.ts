import { texts } from '../words/i18n.js';
import { inviteEn } from './invite.en.js';
import { inviteZh } from './invite.zh.js';

export const inviteTexts = texts('invite', inviteZh, inviteEn);
