import { other, type ProviderFacts, type ProviderTable, usual } from '../../../src/domain/channel/provider.js';
import { providerTable } from '../../../src/relay/providers/registry.js';

/* Every provider there is, and two that have what none of them has yet. */

/** Keys are documents, `other` is a region. */
export const regional: ProviderFacts = {
  ...usual,
  type: 900,
  name: 'Regional',
  defaultBaseUrl: 'https://regional.example',
  defaultModels: ['regional-1'],
  colour: 'blue',
  keyHint: 'a document',
  documentKey: true,
  other: other('region', { region: true }),
  modes: ['chat'],
};

/** The gateway cannot speak with it. */
export const notServed: ProviderFacts = { ...regional, type: 901, name: 'Someday', modes: [] };

export const testProviders: ProviderTable = new Map([
  ...providerTable,
  [regional.type, regional],
  [notServed.type, notServed],
]);
