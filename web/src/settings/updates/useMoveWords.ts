import { useCallback } from 'react';
import type { PriceDifferenceFieldsFragment } from '../../generated/settings/updates/updates.js';
import { useText } from '../../kit/words/i18n.js';
import { useQuantityText } from '../../kit/words/useQuantityText.js';
import { updatesTexts } from './updates.texts.js';

export type Move = PriceDifferenceFieldsFragment['moves'][number];

/** What an amount of a price is called. */
export function useMoveWords(): (name: string) => string {
  const t = useText(updatesTexts);
  const quantity = useQuantityText();
  return useCallback(
    (name) => {
      const [, kind = '', tokens = ''] = /^(\w+)>(\d+)$/.exec(name) ?? [];
      if (kind !== '') return t('move.over', { quantity: quantity(kind), tokens });
      if (name.startsWith('tier:')) return t('move.tier', { tier: name.slice('tier:'.length) });
      if (name.startsWith('picture:')) return t('move.picture', { order: name.slice('picture:'.length) });
      return quantity(name);
    },
    [t, quantity],
  );
}
