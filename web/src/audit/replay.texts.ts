import { texts } from '../kit/words/i18n.js';
import { replayEn } from './replay.en.js';
import { replayZh } from './replay.zh.js';

export const replayTexts = texts('replay', replayZh, replayEn);
