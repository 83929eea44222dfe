import { formatExactly } from '../kit/figures.js';
import type { Translate } from '../kit/words/i18n.js';
import type { callZh } from './call.zh.js';

/* How a factor of a price, and where it stands, are called. */

const named = ['model', 'group', 'price', 'quotaPerUnit'] as const;

/** `over:272000:input`: beyond that length of the prompt; `service:flex`: at that tier. */
export function factorText(factor: string, t: Translate<typeof callZh>, quantity: (name: string) => string): string {
  const name = named.find((known) => known === factor);
  if (name !== undefined) return t(`origin.${name}`);
  const [kind, value = '', ...rest] = factor.split(':');
  if (kind === 'service') return t('origin.service', { tier: factor.slice('service:'.length) });
  if (kind === 'over')
    return t('origin.over', { quantity: quantity(rest.join(':')), length: formatExactly(Number(value)) });
  return quantity(factor);
}

/** `ModelRatio[gpt-4o]`; '': no option holds it. */
export const optionText = (option: string | null, entry: string | null): string =>
  option === null ? '' : entry === null ? option : `${option}[${entry}]`;
