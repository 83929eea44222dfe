import { useCallback } from 'react';
import { useText } from './i18n.js';
import { quantitiesTexts } from './quantities.texts.js';
import type { quantitiesZh } from './quantities.zh.js';

const toolCalls = 'calls:';

const isNamed = (quantity: string): quantity is Exclude<keyof typeof quantitiesZh, 'calls'> =>
  quantity !== 'calls' && Object.hasOwn(quantitiesTexts.zh, quantity);

/** How what is used and priced is called. What a later version counts besides is called as the server calls it. */
export function useQuantityText(): (quantity: string) => string {
  const t = useText(quantitiesTexts);
  return useCallback(
    (quantity) => {
      if (isNamed(quantity)) return t(quantity);
      return quantity.startsWith(toolCalls) ? t('calls', { tool: quantity.slice(toolCalls.length) }) : quantity;
    },
    [t],
  );
}
