import { Radio, RadioGroup } from '@blueprintjs/core';
import { type ReactNode, useState } from 'react';
import { TextField } from '../../kit/form/Fields.js';
import { useText } from '../../kit/words/i18n.js';
import { type FieldProblem, isAbout } from './fieldProblem.js';
import { PictureFields, PieceFields } from './PieceFields.js';
import type { PeriodDraft, RateUnit } from './priceDraft.js';
import type { TokenName } from './priceRecord.js';
import { pricesTexts } from './prices.texts.js';
import { CallFields, QuantityGrid, type QuantityPrice } from './QuantityGrid.js';
import { ServiceTierFields, TierFields } from './TierFields.js';

interface PeriodFormProps {
  readonly period: PeriodDraft;
  readonly unit: RateUnit;
  /** `periods[0]`. */
  readonly path: string;
  readonly problem: FieldProblem | null;
  readonly prices: readonly QuantityPrice[];
  readonly onChange: (period: PeriodDraft) => void;
  readonly onUnit: (unit: RateUnit) => void;
}

const textTokens: readonly TokenName[] = [
  'input',
  'output',
  'cachedInput',
  'cacheWrite',
  'cacheWriteHour',
  'reasoning',
];
const mediaTokens: readonly TokenName[] = [
  'imageInput',
  'imageOutput',
  'audioInput',
  'cachedAudioInput',
  'audioOutput',
  'videoInput',
  'videoOutput',
];

const isStated = (period: PeriodDraft, names: readonly TokenName[]): boolean =>
  names.some((name) => period.selling.tokens[name].text !== '' || period.purchase.tokens[name].text !== '');

const hasPieces = ({ selling, purchase }: PeriodDraft): boolean =>
  [...Object.values(selling.pieces), ...Object.values(purchase.pieces)].some((text) => text !== '');

/** All that can be stated of one period. */
export function PeriodForm({ period, unit, path, problem, prices, onChange, onUnit }: PeriodFormProps) {
  const t = useText(pricesTexts);
  const part = { period, path, problem, onChange };
  const wrongDay = (name: 'from' | 'until'): string | undefined =>
    isAbout(problem, `${path}.${name}`) ? t('problem.allowed', { allowed: problem?.allowed ?? '' }) : undefined;
  const tokens = [...Object.values(period.selling.tokens), ...Object.values(period.purchase.tokens)];
  const keepsPrices = unit === 'ratio' && tokens.some((rate) => rate.unit === 'usd' && rate.text !== '');
  return (
    <>
      <div className="price-days">
        {(['from', 'until'] as const).map((name) => (
          <TextField
            key={name}
            type="date"
            label={t(`period.${name}`)}
            value={period[name]}
            error={wrongDay(name)}
            onChange={(day) => onChange({ ...period, [name]: day })}
          />
        ))}
      </div>
      <div className="price-choices">
        <RadioGroup
          label={t('billing.title')}
          selectedValue={period.byCall ? 'call' : 'tokens'}
          onChange={({ currentTarget }) => onChange({ ...period, byCall: currentTarget.value === 'call' })}
        >
          <Radio value="tokens" label={t('billing.tokens')} />
          <Radio value="call" label={t('billing.call')} />
        </RadioGroup>
        <RadioGroup
          label={t('unit.title')}
          selectedValue={unit}
          onChange={({ currentTarget }) => onUnit(currentTarget.value === 'ratio' ? 'ratio' : 'usd')}
        >
          <Radio value="usd" label={t('unit.usd')} />
          <Radio value="ratio" label={t('unit.ratio')} />
        </RadioGroup>
      </div>
      {period.byCall ? (
        <CallFields {...part} prices={prices} />
      ) : (
        <>
          <QuantityGrid {...part} unit={unit} names={textTokens} prices={prices} />
          {keepsPrices && <p className="price-note">{t('unit.kept')}</p>}
          <Part title={t('section.media')} isOpen={isStated(period, mediaTokens)}>
            <QuantityGrid {...part} unit={unit} names={mediaTokens} prices={prices} />
          </Part>
          <Part title={t('section.tiers')} isOpen={period.tiers.length > 0}>
            <TierFields {...part} />
          </Part>
        </>
      )}
      <Part title={t('section.service')} isOpen={period.hasServiceTiers}>
        <ServiceTierFields {...part} />
      </Part>
      <Part title={t('section.pieces')} isOpen={hasPieces(period)}>
        <PieceFields {...part} />
      </Part>
      <Part
        title={t('section.pictures')}
        isOpen={period.selling.pictures.length > 0 || period.purchase.pictures.length > 0}
      >
        <PictureFields {...part} />
      </Part>
    </>
  );
}

interface PartProps {
  readonly title: string;
  /** It says something when it is first shown; from then on it is the reader's to fold. */
  readonly isOpen: boolean;
  readonly children: ReactNode;
}

function Part({ title, isOpen, children }: PartProps) {
  const [first] = useState(isOpen);
  return (
    <details className="price-part" open={first}>
      <summary>{title}</summary>
      {children}
    </details>
  );
}
