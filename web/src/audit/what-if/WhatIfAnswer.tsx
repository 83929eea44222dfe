import { useSubscription } from '@apollo/client/react';
import { AnchorButton, Button, ButtonGroup, Callout, ProgressBar } from '@blueprintjs/core';
import { Download } from '@blueprintjs/icons';
import { useMemo, useState } from 'react';
import {
  WhatIfDocument,
  type WhatIfRowShownFragment,
  type WhatIfSubscription,
} from '../../generated/audit/what-if/whatIf.js';
import { Fact, Facts } from '../../kit/Facts.js';
import { formatExactly } from '../../kit/figures.js';
import { FormProblem } from '../../kit/form/FormProblem.js';
import { QuotaText } from '../../kit/QuotaText.js';
import { Section } from '../../kit/Section.js';
import type { Column } from '../../kit/table/columns.js';
import { ResourceTable } from '../../kit/table/ResourceTable.js';
import { errorText } from '../../kit/words/errors.js';
import { type Translate, useText } from '../../kit/words/i18n.js';
import { chargeDigits, DifferenceText } from '../other-prices/DifferenceText.js';
import { whatIfTexts } from './whatIf.texts.js';
import type { whatIfZh } from './whatIf.zh.js';

type Found = NonNullable<WhatIfSubscription['whatIf']['found']>;
type Row = WhatIfRowShownFragment;

/** How far it has come, and then the answer: asked for while this is on the page. */
export function WhatIfAnswer({ id, onStop }: { readonly id: string; readonly onStop: () => void }) {
  const t = useText(whatIfTexts);
  const { data, error } = useSubscription(WhatIfDocument, { variables: { id } });
  const { percent = 0, found = null, problem = null } = data?.whatIf ?? {};
  if (error !== undefined) return <FormProblem text={errorText(error)} />;
  if (problem !== null) return <FormProblem text={t(`problem.${problem}`)} />;
  if (found !== null) return <Result id={id} found={found} />;
  const progress = t('progress', { percent });
  return (
    <div className="what-if-progress" role="status">
      <span>{progress}</span>
      <ProgressBar intent="primary" aria-label={progress} value={percent / 100} />
      <Button text={t('stop')} onClick={onStop} />
    </div>
  );
}

function Result({ id, found }: { readonly id: string; readonly found: Found }) {
  const t = useText(whatIfTexts);
  const [by, setBy] = useState<'user' | 'model'>('user');
  const columns = useMemo(() => rowColumns(t, by === 'model'), [t, by]);
  const [rows, count] = by === 'user' ? [found.users, found.userCount] : [found.models, found.modelCount];
  return (
    <Section title={t('result')}>
      <Facts>
        <Fact name={t('calls')}>{formatExactly(found.calls)}</Fact>
        <Fact name={t('actual')}>
          <QuotaText quota={found.actual} digits={chargeDigits} />
        </Fact>
        <Fact name={t('hypothetical')}>
          <QuotaText quota={found.hypothetical} digits={chargeDigits} />
        </Fact>
        <Fact name={t('difference')}>
          <DifferenceText difference={found.hypothetical - found.actual} />
        </Fact>
        <Fact name={t('dearer')}>{t('dearer.of', { dearer: found.dearerUsers, users: found.userCount })}</Fact>
      </Facts>
      {found.unpriced > 0 && (
        <Callout intent="warning" compact>
          {t('unpriced', { count: formatExactly(found.unpriced) })}
        </Callout>
      )}
      <div className="what-if-choice">
        <ButtonGroup>
          {(['user', 'model'] as const).map((one) => (
            <Button
              key={one}
              text={t(`by.${one}`)}
              active={by === one}
              aria-pressed={by === one}
              onClick={() => setBy(one)}
            />
          ))}
        </ButtonGroup>
        <AnchorButton icon={<Download />} text={t('csv')} href={`/export/what-if.csv?id=${id}&by=${by}`} download />
      </div>
      <ResourceTable
        label={t(`by.${by}`)}
        columns={columns}
        rows={rows}
        rowKey={({ userId, model }) => `${userId} ${model ?? ''}`}
        empty={t('none')}
      />
      {rows.length < count && <p className="section-note">{t('more', { shown: rows.length, count })}</p>}
    </Section>
  );
}

const rowColumns = (t: Translate<typeof whatIfZh>, withModel: boolean): readonly Column<Row>[] => [
  {
    id: 'user',
    header: t('user'),
    heading: true,
    cell: ({ userId, username }) => username ?? t('erased', { id: userId }),
  },
  ...(withModel ? [{ id: 'model', header: t('model'), cell: ({ model }: Row) => model }] : []),
  { id: 'calls', header: t('calls'), align: 'end', priority: 2, cell: ({ calls }) => formatExactly(calls) },
  {
    id: 'actual',
    header: t('actual'),
    align: 'end',
    priority: 2,
    cell: ({ actual }) => <QuotaText quota={actual} digits={chargeDigits} />,
  },
  {
    id: 'hypothetical',
    header: t('hypothetical'),
    align: 'end',
    cell: ({ hypothetical }) => <QuotaText quota={hypothetical} digits={chargeDigits} />,
  },
  {
    id: 'difference',
    header: t('difference'),
    align: 'end',
    cell: ({ actual, hypothetical }) => <DifferenceText difference={hypothetical - actual} />,
  },
];
