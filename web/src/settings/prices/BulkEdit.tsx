import { useMutation } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { Edit } from '@blueprintjs/icons';
import { type FormEvent, useState } from 'react';
import { type ProposalFragment, ProposePriceEditDocument } from '../../generated/settings/prices/prices.js';
import { SelectField, TextField } from '../../kit/form/Fields.js';
import { FormProblem } from '../../kit/form/FormProblem.js';
import { DetailDrawer } from '../../kit/table/DetailDrawer.js';
import { commonTexts } from '../../kit/words/common.texts.js';
import { errorText } from '../../kit/words/errors.js';
import { useText } from '../../kit/words/i18n.js';
import { type BulkDraft, bulkKinds, editIn, firstBulk } from './bulkDraft.js';
import { Proposals } from './Proposals.js';
import { pieceNames, tokenNames } from './priceRecord.js';
import { pricesTexts } from './prices.texts.js';
import { useQuantityName } from './priceWords.js';

interface BulkEditProps {
  readonly models: readonly string[];
  readonly onChanged: () => void;
}

/** One edit of all models that are ticked, shown before it is stored. */
export function BulkEdit({ models, onChanged }: BulkEditProps) {
  const t = useText(pricesTexts);
  const common = useText(commonTexts);
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <span className="selection-count" role="status">
        {common('select.count', { selected: models.length })}
      </span>
      <Button icon={<Edit />} text={t('bulk.open')} onClick={() => setIsOpen(true)} />
      {isOpen && (
        <DetailDrawer
          title={t('bulk.title', { count: models.length })}
          size="wide"
          keepOnOutsideClick
          onClose={() => setIsOpen(false)}
        >
          <BulkForm
            models={models}
            onApplied={() => {
              setIsOpen(false);
              onChanged();
            }}
          />
        </DetailDrawer>
      )}
    </>
  );
}

function BulkForm({ models, onApplied }: { readonly models: readonly string[]; readonly onApplied: () => void }) {
  const t = useText(pricesTexts);
  const nameOf = useQuantityName();
  const [draft, setDraft] = useState<BulkDraft>(firstBulk);
  const [judged, setJudged] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [proposals, setProposals] = useState<readonly ProposalFragment[] | null>(null);
  const [propose, { loading }] = useMutation(ProposePriceEditDocument, { context: { errors: 'inline' } });
  const edit = editIn(draft);
  const missing = judged && edit === null ? t('bulk.needed') : undefined;

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setJudged(true);
    setProblem(null);
    if (edit === null) return;
    try {
      const { data } = await propose({ variables: { models: [...models], edit } });
      setProposals(data?.proposePriceEdit ?? null);
    } catch (failure) {
      setProblem(errorText(failure));
    }
  };

  if (proposals !== null)
    return (
      <>
        <Button text={t('bulk.back')} onClick={() => setProposals(null)} />
        <Proposals
          label={t('bulk.title', { count: models.length })}
          proposals={proposals}
          kind="EDITOR"
          onApplied={onApplied}
        />
      </>
    );
  return (
    <form noValidate onSubmit={(event) => void submit(event)}>
      <FormProblem text={problem} />
      <SelectField
        label={t('bulk.kind')}
        value={draft.kind}
        options={bulkKinds.map((value) => ({ value, label: t(`bulk.${value}`) }))}
        onChange={(kind) => setDraft({ ...draft, kind })}
      />
      {draft.kind === 'MULTIPLY' && (
        <TextField
          label={t('bulk.factor')}
          value={draft.factor}
          required
          error={missing}
          onChange={(factor) => setDraft({ ...draft, factor })}
        />
      )}
      {draft.kind === 'MARGIN' && (
        <TextField
          label={t('bulk.percent')}
          value={draft.percent}
          required
          error={missing}
          onChange={(percent) => setDraft({ ...draft, percent })}
        />
      )}
      {draft.kind === 'SET' && (
        <>
          <SelectField
            label={t('bulk.part')}
            value={draft.part}
            options={[
              { value: 'call', label: nameOf('call') },
              ...tokenNames.map((name) => ({ value: `tokens.${name}`, label: nameOf(name) })),
              ...pieceNames.map((name) => ({ value: `pieces.${name}`, label: nameOf(name) })),
            ]}
            onChange={(part) => setDraft({ ...draft, part })}
          />
          <TextField
            label={t('bulk.usd')}
            value={draft.usd}
            error={missing}
            onChange={(usd) => setDraft({ ...draft, usd })}
          />
          <TextField label={t('bulk.ratio')} value={draft.ratio} onChange={(ratio) => setDraft({ ...draft, ratio })} />
        </>
      )}
      {draft.kind === 'COPY' && (
        <TextField
          label={t('bulk.from')}
          value={draft.from}
          required
          error={judged && edit === null ? t('editor.modelNeeded') : undefined}
          onChange={(from) => setDraft({ ...draft, from })}
        />
      )}
      <Button type="submit" intent="primary" text={t('bulk.preview')} loading={loading} />
    </form>
  );
}
