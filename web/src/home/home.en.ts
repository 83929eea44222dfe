import type { Translation } from '../kit/words/i18n.js';
import type { homeZh } from './home.zh.js';

export const homeEn: Translation<typeof homeZh> = {
  address: 'API address',
  addressHint: 'Point an OpenAI client here, give it a token, done.',
  claim: 'Charges for every call, and can prove every charge.',
  console: 'Open the console',
  frame: 'Home page',
  lead: 'A gateway for AI model APIs: one address for many upstreams. It reserves, relays and settles every call, and keeps the record.',
  login: 'Log in',
  'point.audit': 'Books that can be checked',
  'point.audit.text':
    'Every call is an event that never changes, kept with each factor of its price: any charge can be computed again.',
  'point.live': 'Seen as it happens',
  'point.live.text': 'Traffic, spending and the health of channels appear at once, without reloading.',
  'point.relay': 'One place to connect',
  'point.relay.text':
    'The OpenAI API as clients know it. Calls go to a channel that works; when one fails, the next is tried.',
};
