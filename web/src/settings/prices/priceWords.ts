import { formatExactly } from '../../kit/figures.js';
import { useText } from '../../kit/words/i18n.js';
import { quantitiesTexts } from '../../kit/words/quantities.texts.js';
import type { TokenName } from './priceRecord.js';
import { pricesTexts } from './prices.texts.js';
import type { pricesZh } from './prices.zh.js';

/* What quantities, and parts of a record, are called. */

type OwnName = keyof typeof pricesZh extends infer Key ? (Key extends `quantity.${infer Name}` ? Name : never) : never;

const ownNames: ReadonlySet<string> = new Set<OwnName>([
  'call',
  'videoInput',
  'videoOutput',
  'images',
  'searchUnits',
  'seconds',
  'characters',
  'video',
  'video:480p',
  'video:720p',
  'video:1080p',
  'video:4k',
  'calls:web_search',
  'calls:google_search',
  'calls:google_maps',
  'calls:code_execution',
  'calls:code_interpreter',
]);

const isOwn = (name: string): name is OwnName => ownNames.has(name);

type Shared = Exclude<TokenName, OwnName>;
const sharedNames: ReadonlySet<string> = new Set<Shared>([
  'input',
  'output',
  'cachedInput',
  'cacheWrite',
  'cacheWriteHour',
  'reasoning',
  'imageInput',
  'imageOutput',
  'audioInput',
  'cachedAudioInput',
  'audioOutput',
]);
const isShared = (name: string): name is Shared => sharedNames.has(name);

/** A name that this console does not know yet is shown as it is. */
export function useQuantityName(): (name: string) => string {
  const t = useText(pricesTexts);
  const ofTokens = useText(quantitiesTexts);
  return (name) => (isOwn(name) ? t(`quantity.${name}`) : isShared(name) ? ofTokens(name) : name);
}

/** `purchase.tokens.output` → “Purchase: Output”. */
export function usePartName(): (part: string) => string {
  const t = useText(pricesTexts);
  const quantity = useQuantityName();
  const nameOf = (part: string): string => {
    const [head = '', ...rest] = part.split('.');
    const tail = rest.join('.');
    switch (head) {
      case 'purchase':
        return t('part.purchase', { part: nameOf(tail) });
      case 'contextTiers': {
        const [over = '', name] = rest;
        const tokens = formatExactly(Number(over));
        return name === undefined ? t('part.tier', { tokens }) : t('part.tierOf', { tokens, part: quantity(name) });
      }
      case 'serviceTiers':
        return t('part.service', { tier: tail });
      case 'pictures':
        return t('part.picture', { picture: rest.join(' · ') });
      case 'until':
        return t('period.until');
      case 'tokens':
      case 'pieces':
        return quantity(tail);
      default:
        return quantity(part);
    }
  };
  return nameOf;
}
