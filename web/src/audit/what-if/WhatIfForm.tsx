import { Button, InputGroup } from '@blueprintjs/core';
import { Cross, Plus } from '@blueprintjs/icons';
import { type ChangeEvent, type FormEvent, useId, useState } from 'react';
import type { AskWhatIfMutationVariables } from '../../generated/audit/what-if/whatIf.js';
import { FormProblem } from '../../kit/form/FormProblem.js';
import { Section } from '../../kit/Section.js';
import { MomentFilter } from '../../kit/table/MomentFilter.js';
import { useListParams } from '../../kit/table/useListParams.js';
import { useText } from '../../kit/words/i18n.js';
import { whatIfTexts } from './whatIf.texts.js';

/** What a gateway takes; looked at before a file is read. */
const maxFileBytes = 640 * 1024;
const maxGroups = 200;
const ratioPattern = /^\d{1,6}(?:\.\d{1,9})?$/;
const days = 30;
const daySeconds = 86_400;

interface Ratio {
  readonly key: number;
  readonly group: string;
  readonly ratio: string;
}

interface WhatIfFormProps {
  readonly isAsking: boolean;
  readonly onAsk: (question: AskWhatIfMutationVariables) => void;
}

/** The last days, up to this one's end. */
function usualPeriod() {
  const to = Math.ceil(Date.now() / 1000 / daySeconds) * daySeconds;
  return { from: to - days * daySeconds, to };
}

/** Which period, and by which prices. The period is in the address; a file cannot be. */
export function WhatIfForm({ isAsking, onAsk }: WhatIfFormProps) {
  const t = useText(whatIfTexts);
  const file = useId();
  const [usual] = useState(usualPeriod);
  const [{ from, to }, setPeriod] = useListParams(usual);
  const [prices, setPrices] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [ratios, setRatios] = useState<readonly Ratio[]>([]);
  const isBackwards = from >= to;
  const named = ratios.filter(({ group }) => group.trim() !== '');
  const isWrong = ({ ratio }: Ratio): boolean => !ratioPattern.test(ratio.trim());

  const choose = async ({ currentTarget }: ChangeEvent<HTMLInputElement>): Promise<void> => {
    const chosen = currentTarget.files?.[0];
    setPrices(null);
    setProblem(null);
    if (chosen === undefined) return;
    if (chosen.size > maxFileBytes) setProblem(t('prices.tooLarge'));
    else setPrices(await chosen.text());
  };
  const change = (key: number, patch: Partial<Ratio>): void =>
    setRatios(ratios.map((one) => (one.key === key ? { ...one, ...patch } : one)));
  const add = (): void =>
    setRatios([...ratios, { key: Math.max(0, ...ratios.map(({ key }) => key)) + 1, group: '', ratio: '1' }]);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const groupRatios = named.map(({ group, ratio }) => ({ group: group.trim(), ratio: ratio.trim() }));
    onAsk({ from, to, prices, groupRatios });
  };

  return (
    <Section title={t('question')}>
      <form className="what-if-form" onSubmit={submit}>
        <div className="what-if-period">
          <MomentFilter label={t('from')} at={from} onChange={(at) => setPeriod({ from: at })} />
          <MomentFilter
            label={t('to')}
            at={to}
            wrong={isBackwards ? t('to.wrong') : undefined}
            onChange={(at) => setPeriod({ to: at })}
          />
        </div>
        <div>
          <label htmlFor={file}>{t('prices')}</label>
          <input
            id={file}
            className="what-if-file"
            type="file"
            accept="application/json,.json"
            aria-describedby={`${file}-hint`}
            onChange={(event) => void choose(event)}
          />
          <p id={`${file}-hint`} className="section-note">
            {t('prices.hint')}
          </p>
          <FormProblem text={problem} />
        </div>
        <fieldset className="what-if-ratios">
          <legend>{t('ratios')}</legend>
          {ratios.map((one) => (
            <div key={one.key} className="what-if-ratio">
              <InputGroup
                value={one.group}
                maxLength={64}
                placeholder={t('group')}
                aria-label={t('group')}
                onValueChange={(group) => change(one.key, { group })}
              />
              <InputGroup
                value={one.ratio}
                maxLength={20}
                inputMode="decimal"
                placeholder={t('ratio')}
                aria-label={t('ratio')}
                intent={isWrong(one) ? 'danger' : 'none'}
                aria-invalid={isWrong(one)}
                title={isWrong(one) ? t('ratio.wrong') : undefined}
                onValueChange={(ratio) => change(one.key, { ratio })}
              />
              <Button
                variant="minimal"
                icon={<Cross />}
                aria-label={t('ratio.remove', { group: one.group })}
                onClick={() => setRatios(ratios.filter(({ key }) => key !== one.key))}
              />
            </div>
          ))}
          <Button icon={<Plus />} text={t('ratio.add')} disabled={ratios.length >= maxGroups} onClick={add} />
          <p className="section-note">{t('ratios.hint')}</p>
        </fieldset>
        <div>
          <Button
            type="submit"
            intent="primary"
            text={t('ask')}
            loading={isAsking}
            disabled={isBackwards || named.some(isWrong) || problem !== null}
          />
        </div>
      </form>
    </Section>
  );
}
