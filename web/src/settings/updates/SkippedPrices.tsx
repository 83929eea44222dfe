import { useQuery } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { useState } from 'react';
import { SkippedPricesDocument } from '../../generated/settings/updates/updates.js';
import { QueryNotice } from '../../kit/QueryNotice.js';
import { useText } from '../../kit/words/i18n.js';
import { updatesTexts } from './updates.texts.js';

interface SkippedPricesProps {
  readonly source: string;
  readonly total: number;
}

/** Models of a source that are left out, and why. */
export function SkippedPrices({ source, total }: SkippedPricesProps) {
  const t = useText(updatesTexts);
  const [isOpen, setOpen] = useState(false);
  const result = useQuery(SkippedPricesDocument, { variables: { source }, skip: !isOpen });
  const skipped = result.data?.priceDifferences.skipped;
  return (
    <>
      <Button
        variant="minimal"
        text={t('skipped.title', { count: total })}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      />
      {isOpen && skipped === undefined && <QueryNotice {...result} />}
      {isOpen && skipped !== undefined && (
        <>
          {total > skipped.length && <p className="section-note">{t('skipped.first')}</p>}
          <ul className="price-moves">
            {skipped.map(({ model, reason, member }) => (
              <li key={model}>
                {model}: {t(`skip.${reason}`)}
                {member !== null && ` (${member})`}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
