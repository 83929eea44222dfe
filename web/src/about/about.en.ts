import type { Translation } from '../kit/words/i18n.js';
import type { aboutZh } from './about.zh.js';

export const aboutEn: Translation<typeof aboutZh> = {
  title: 'About',
  heading: 'About {{name}}',
  what: 'This is a gateway for AI model APIs: one address for many upstreams. It reserves, relays and settles every call.',
  proof:
    'Every call is an event that never changes, kept with each factor of its price: any charge can be computed again.',
  version: 'Tallygate, version {{version}}',
  root: 'Write this page in the settings',
};
