import { Button, InputGroup } from '@blueprintjs/core';
import { type FormEvent, useState } from 'react';
import { SwitchField } from '../../kit/form/Fields.js';
import { Section } from '../../kit/Section.js';
import { FilterField, SelectFilter } from '../../kit/table/FilterBar.js';
import { MomentFilter } from '../../kit/table/MomentFilter.js';
import { useText } from '../../kit/words/i18n.js';
import { GroupRatioFields } from '../other-prices/GroupRatioFields.js';
import { PeriodFields } from '../other-prices/PeriodFields.js';
import { PriceFileField } from '../other-prices/PriceFileField.js';
import {
  filters,
  heldAtOf,
  inputIn,
  isWrongPosition,
  lacksPrices,
  newDraft,
  origins,
  type RepairDraft,
  type RepairInput,
} from './repairDraft.js';
import { repairsTexts } from './repairs.texts.js';

interface RepairFormProps {
  readonly isAsking: boolean;
  readonly onAsk: (input: RepairInput) => void;
  /** What was previewed is no longer what is asked. */
  readonly onEdit: () => void;
}

/** Which calls, and what was right for them. */
export function RepairForm({ isAsking, onAsk, onEdit }: RepairFormProps) {
  const t = useText(repairsTexts);
  const [draft, setDraft] = useState(newDraft);
  const edit = (patch: Partial<RepairDraft>): void => {
    setDraft((known) => ({ ...known, ...patch }));
    onEdit();
  };
  const input = inputIn(draft);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (input !== null) onAsk(input);
  };
  return (
    <Section title={t('question')}>
      <form className="other-prices-form" onSubmit={submit}>
        <div className="other-prices-row">
          <PeriodFields period={draft.period} onChange={(patch) => edit({ period: { ...draft.period, ...patch } })} />
        </div>
        <div className="other-prices-row">
          {filters.map((name) => (
            <FilterField key={name} label={t(name)}>
              {(id) => (
                <InputGroup
                  id={id}
                  value={draft.scope[name]}
                  maxLength={255}
                  autoComplete="off"
                  onValueChange={(value) => edit({ scope: { ...draft.scope, [name]: value } })}
                />
              )}
            </FilterField>
          ))}
        </div>
        <RightPrices draft={draft} onEdit={edit} />
        <SwitchField
          label={t('charge')}
          hint={t('charge.hint')}
          value={draft.isCharging}
          onChange={(isCharging) => edit({ isCharging })}
        />
        <div>
          <Button type="submit" intent="primary" text={t('ask')} loading={isAsking} disabled={input === null} />
          {lacksPrices(draft) && <p className="section-note">{t('ask.needed')}</p>}
        </div>
      </form>
    </Section>
  );
}

interface RightPricesProps {
  readonly draft: RepairDraft;
  readonly onEdit: (patch: Partial<RepairDraft>) => void;
}

function RightPrices({ draft, onEdit }: RightPricesProps) {
  const t = useText(repairsTexts);
  return (
    <>
      <div className="other-prices-row">
        <SelectFilter
          label={t('right')}
          value={draft.origin}
          options={origins.map((value) => ({ value, label: t(`right.${value}`) }))}
          // A file's field is empty when it comes back.
          onChange={(origin) => onEdit({ origin, file: null })}
        />
        {draft.origin === 'at' && (
          <MomentFilter label={t('heldAt')} at={heldAtOf(draft)} onChange={(heldAt) => onEdit({ heldAt })} />
        )}
        {draft.origin === 'position' && <PositionField draft={draft} onEdit={onEdit} />}
      </div>
      {draft.origin === 'file' && (
        <>
          <PriceFileField onChoose={(file) => onEdit({ file })} />
          <GroupRatioFields ratios={draft.ratios} onChange={(ratios) => onEdit({ ratios })} />
        </>
      )}
    </>
  );
}

function PositionField({ draft, onEdit }: RightPricesProps) {
  const t = useText(repairsTexts);
  const isWrong = draft.position !== '' && isWrongPosition(draft);
  return (
    <FilterField label={t('position')}>
      {(id) => (
        <InputGroup
          id={id}
          value={draft.position}
          maxLength={15}
          inputMode="numeric"
          autoComplete="off"
          intent={isWrong ? 'danger' : 'none'}
          aria-invalid={isWrong}
          title={isWrong ? t('position.wrong') : undefined}
          onValueChange={(position) => onEdit({ position })}
        />
      )}
    </FilterField>
  );
}
