import { useQuery } from '@apollo/client/react';
import { BuiltInPricesDayDocument } from '../generated/kit/prices.js';
import { commonTexts } from './words/common.texts.js';
import { useText } from './words/i18n.js';

/** As of which day prices are that no operator has set. Nothing until it is known. */
export function BuiltInPricesDay() {
  const t = useText(commonTexts);
  const { data } = useQuery(BuiltInPricesDayDocument);
  return data === undefined ? null : (
    <p className="section-note">{t('builtInPrices', { day: data.builtInPricesDay })}</p>
  );
}
