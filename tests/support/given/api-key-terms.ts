import type { ApiKeyTerms } from '../../../src/domain/api-key/api-key-terms.js';

/** Terms that limit nothing, and what a test changes. */
export const apiKeyTerms = (changed: Partial<ApiKeyTerms> = {}): ApiKeyTerms => ({
  name: 'ci',
  unlimited: false,
  expiresAt: null,
  modelLimitsEnabled: false,
  modelLimits: [],
  allowIps: [],
  group: '',
  budget: null,
  ...changed,
});
