import { texts } from '../kit/words/i18n.js';
import { bindingsEn } from './bindings.en.js';
import { bindingsZh } from './bindings.zh.js';

export const bindingsTexts = texts('bindings', bindingsZh, bindingsEn);
