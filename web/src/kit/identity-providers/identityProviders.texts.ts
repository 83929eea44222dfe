import { texts } from '../words/i18n.js';
import { identityProvidersEn } from './identityProviders.en.js';
import { identityProvidersZh } from './identityProviders.zh.js';

export const identityProviderTexts = texts('identityProviders', identityProvidersZh, identityProvidersEn);
