import { Button } from '@blueprintjs/core';
import { type FormEvent, useState } from 'react';
import type { AskWhatIfMutationVariables } from '../../generated/audit/what-if/whatIf.js';
import { Section } from '../../kit/Section.js';
import { useListParams } from '../../kit/table/useListParams.js';
import { useText } from '../../kit/words/i18n.js';
import { GroupRatioFields } from '../other-prices/GroupRatioFields.js';
import { hasWrongRatio, namedRatios, type TypedRatio } from '../other-prices/groupRatios.js';
import { PeriodFields } from '../other-prices/PeriodFields.js';
import { type PriceFile, PriceFileField } from '../other-prices/PriceFileField.js';
import { lastDays } from '../other-prices/period.js';
import { whatIfTexts } from './whatIf.texts.js';

interface WhatIfFormProps {
  readonly isAsking: boolean;
  readonly onAsk: (question: AskWhatIfMutationVariables) => void;
}

/** Which period, and by which prices. The period is in the address; a file cannot be. */
export function WhatIfForm({ isAsking, onAsk }: WhatIfFormProps) {
  const t = useText(whatIfTexts);
  const [usual] = useState(() => lastDays(30));
  const [{ from, to }, setPeriod] = useListParams({ ...usual });
  const [file, setFile] = useState<PriceFile | 'too-large' | null>(null);
  const [ratios, setRatios] = useState<readonly TypedRatio[]>([]);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (file === 'too-large') return;
    onAsk({ from, to, prices: file?.text ?? null, groupRatios: namedRatios(ratios) });
  };
  return (
    <Section title={t('question')}>
      <form className="other-prices-form" onSubmit={submit}>
        <div className="other-prices-row">
          <PeriodFields period={{ from, to }} onChange={setPeriod} />
        </div>
        <PriceFileField onChoose={setFile} />
        <GroupRatioFields ratios={ratios} onChange={setRatios} />
        <div>
          <Button
            type="submit"
            intent="primary"
            text={t('ask')}
            loading={isAsking}
            disabled={from >= to || hasWrongRatio(ratios) || file === 'too-large'}
          />
        </div>
      </form>
    </Section>
  );
}
