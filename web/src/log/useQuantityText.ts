import { useCallback } from 'react';
import { tokenQuantities } from '../kit/unitPrice.js';
import { useText } from '../kit/words/i18n.js';
import { quantitiesTexts } from '../kit/words/quantities.texts.js';
import { logTexts } from './log.texts.js';

const pieces = ['images', 'seconds', 'call'] as const;

const toolCalls = 'calls:';

/** How a quantity of a bill is called. What a later version counts besides is called as the server calls it. */
export function useQuantityText(): (quantity: string) => string {
  const t = useText(logTexts);
  const ofTokens = useText(quantitiesTexts);
  return useCallback(
    (quantity) => {
      if (quantity.startsWith(toolCalls)) return t('billing.calls', { tool: quantity.slice(toolCalls.length) });
      const tokens = tokenQuantities.find((name) => name === quantity);
      if (tokens !== undefined) return ofTokens(tokens);
      const piece = pieces.find((name) => name === quantity);
      return piece === undefined ? quantity : t(`billing.${piece}`);
    },
    [t, ofTokens],
  );
}
