import { useMutation } from '@apollo/client/react';
import { Button, Callout, Checkbox, Dialog, DialogBody, DialogFooter } from '@blueprintjs/core';
import { Download } from '@blueprintjs/icons';
import { useState } from 'react';
import { FetchUpstreamModelsDocument, type UpstreamDraftInput } from '../generated/channels/channels.js';
import { TextField } from '../kit/form/Fields.js';
import { toaster } from '../kit/Toasts.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { channelsTexts } from './channels.texts.js';
import { type ModelDiff, modelDiff, takenOver } from './modelDiff.js';

interface FetchModelsProps {
  /** The channel that is edited; null: there is none yet, and a key must have been typed. */
  readonly channel: string | null;
  /** Where to ask, as it is typed. */
  readonly draft: UpstreamDraftInput;
  readonly models: readonly string[];
  readonly mapping: string;
  readonly onChange: (models: readonly string[]) => void;
}

/** Asks the upstream which models it has, and shows what of it the channel does not list, and the other way round. */
export function FetchModels({ channel, draft, models, mapping, onChange }: FetchModelsProps) {
  const t = useText(channelsTexts);
  const [fetchModels, { loading }] = useMutation(FetchUpstreamModelsDocument);
  const [upstream, setUpstream] = useState<readonly string[] | null>(null);

  const ask = async (): Promise<void> => {
    if (channel === null && (draft.key ?? '') === '') return toaster.warning(t('fetch.keyNeeded'));
    const { data } = await fetchModels({ variables: { id: channel, draft } });
    if (data !== undefined) setUpstream(data.fetchUpstreamModels);
  };

  return (
    <>
      <Button
        size="small"
        icon={<Download />}
        text={t('fetch.button')}
        loading={loading}
        // Said where all mutations fail.
        onClick={() => void ask().catch(() => undefined)}
      />
      {upstream !== null && (
        <Differences
          diff={modelDiff(models, upstream, mapping)}
          onCancel={() => setUpstream(null)}
          onTake={(diff, ticked) => {
            onChange(takenOver(models, diff, ticked));
            setUpstream(null);
          }}
        />
      )}
    </>
  );
}

interface DifferencesProps {
  readonly diff: ModelDiff;
  readonly onCancel: () => void;
  readonly onTake: (diff: ModelDiff, ticked: ReadonlySet<string>) => void;
}

/** Nothing is ticked to begin with: what the upstream calls otherwise today is not taken out unasked. */
function Differences({ diff, onCancel, onTake }: DifferencesProps) {
  const t = useText(channelsTexts);
  const common = useText(commonTexts);
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const [search, setSearch] = useState('');
  const wanted = search.trim().toLowerCase();
  const found = (names: readonly string[]): readonly string[] =>
    names.filter((name) => name.toLowerCase().includes(wanted));
  const lists = { ticked, onTick: setTicked };

  return (
    <Dialog isOpen onClose={onCancel} title={t('fetch.title')} className="fetch-dialog" shouldReturnFocusOnClose>
      <DialogBody>
        <p>{t('fetch.help')}</p>
        <TextField label={t('fetch.search')} autoFocus value={search} onChange={setSearch} />
        <TickList {...lists} title={t('fetch.added', { models: diff.added.length })} names={found(diff.added)} />
        <TickList
          {...lists}
          title={t('fetch.gone', { models: diff.gone.length })}
          hint={diff.gone.length > 0 ? t('fetch.goneHint') : undefined}
          names={found(diff.gone)}
        />
        <details className="fetch-kept">
          <summary>{t('fetch.kept', { models: diff.kept.length })}</summary>
          <ul>
            {found(diff.kept).map((name) => (
              <li key={name}>{name}</li>
            ))}
          </ul>
        </details>
      </DialogBody>
      <DialogFooter
        actions={
          <>
            <Button text={common('cancel')} onClick={onCancel} />
            <Button
              intent="primary"
              text={t('fetch.take', { models: ticked.size })}
              disabled={ticked.size === 0}
              onClick={() => onTake(diff, ticked)}
            />
          </>
        }
      />
    </Dialog>
  );
}

interface TickListProps {
  readonly title: string;
  readonly hint?: string;
  /** Those that are searched for: the rest keeps its ticks. */
  readonly names: readonly string[];
  readonly ticked: ReadonlySet<string>;
  readonly onTick: (ticked: ReadonlySet<string>) => void;
}

function TickList({ title, hint, names, ticked, onTick }: TickListProps) {
  const common = useText(commonTexts);
  const count = names.filter((name) => ticked.has(name)).length;
  const set = (changed: readonly string[], on: boolean): void =>
    onTick(new Set(on ? [...ticked, ...changed] : [...ticked].filter((name) => !changed.includes(name))));
  return (
    <fieldset className="tick-list">
      <legend>{title}</legend>
      {hint !== undefined && <Callout compact>{hint}</Callout>}
      {names.length > 0 && (
        <Checkbox
          label={common('column.all')}
          checked={count === names.length}
          indeterminate={count > 0 && count < names.length}
          onChange={({ currentTarget }) => set(names, currentTarget.checked)}
        />
      )}
      <div className="tick-names">
        {names.map((name) => (
          <Checkbox
            key={name}
            label={name}
            checked={ticked.has(name)}
            onChange={({ currentTarget }) => set([name], currentTarget.checked)}
          />
        ))}
      </div>
    </fieldset>
  );
}
