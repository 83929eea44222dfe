import { useMutation } from '@apollo/client/react';
import { Button, Callout, Checkbox, Dialog, DialogBody, DialogFooter, Tag } from '@blueprintjs/core';
import { Download } from '@blueprintjs/icons';
import { useState } from 'react';
import {
  FetchUpstreamModelsDocument,
  type FetchUpstreamModelsMutation,
  type UpstreamDraftInput,
} from '../generated/channels/channels.js';
import { TextField } from '../kit/form/Fields.js';
import { toaster } from '../kit/Toasts.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import { fetchModelsTexts } from './fetchModels.texts.js';
import { type ModelDiff, modelDiff, takenOver } from './modelDiff.js';

type ListedModel = FetchUpstreamModelsMutation['fetchUpstreamModels'][number];

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
  const t = useText(fetchModelsTexts);
  const [fetchModels, { loading }] = useMutation(FetchUpstreamModelsDocument);
  const [upstream, setUpstream] = useState<readonly ListedModel[] | null>(null);

  const ask = async (): Promise<void> => {
    if (channel === null && (draft.key ?? '') === '') return toaster.warning(t('keyNeeded'));
    const { data } = await fetchModels({ variables: { id: channel, draft } });
    if (data !== undefined) setUpstream(data.fetchUpstreamModels);
  };

  return (
    <>
      <Button
        size="small"
        icon={<Download />}
        text={t('button')}
        loading={loading}
        // Said where all mutations fail.
        onClick={() => void ask().catch(() => undefined)}
      />
      {upstream !== null && (
        <Differences
          diff={modelDiff(
            models,
            upstream.map(({ name }) => name),
            mapping,
          )}
          listed={upstream}
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
  readonly listed: readonly ListedModel[];
  readonly onCancel: () => void;
  readonly onTake: (diff: ModelDiff, ticked: ReadonlySet<string>) => void;
}

/** Nothing is ticked to begin with: what the upstream calls otherwise today is not taken out unasked. */
function Differences({ diff, listed, onCancel, onTake }: DifferencesProps) {
  const t = useText(fetchModelsTexts);
  const common = useText(commonTexts);
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const [search, setSearch] = useState('');
  const wanted = search.trim().toLowerCase();
  const found = (names: readonly string[]): readonly string[] =>
    names.filter((name) => name.toLowerCase().includes(wanted));
  const modes = new Map(listed.map(({ name, modes: can }) => [name, can]));
  const lists = { ticked, modes, onTick: setTicked };

  return (
    <Dialog isOpen onClose={onCancel} title={t('title')} className="fetch-dialog" shouldReturnFocusOnClose>
      <DialogBody>
        <p>{t('help')}</p>
        <TextField label={t('search')} autoFocus value={search} onChange={setSearch} />
        <TickList {...lists} title={t('added', { models: diff.added.length })} names={found(diff.added)} />
        <TickList
          {...lists}
          title={t('gone', { models: diff.gone.length })}
          hint={diff.gone.length > 0 ? t('goneHint') : undefined}
          names={found(diff.gone)}
        />
        <details className="fetch-kept">
          <summary>{t('kept', { models: diff.kept.length })}</summary>
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
              text={t('take', { models: ticked.size })}
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
  /** What each can be asked to do, where its upstream says so. */
  readonly modes: ReadonlyMap<string, ListedModel['modes']>;
  readonly ticked: ReadonlySet<string>;
  readonly onTick: (ticked: ReadonlySet<string>) => void;
}

function TickList({ title, hint, names, modes, ticked, onTick }: TickListProps) {
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
          >
            <ModeTags modes={modes.get(name)} />
          </Checkbox>
        ))}
      </div>
    </fieldset>
  );
}

function ModeTags({ modes }: { readonly modes: ListedModel['modes'] | undefined }) {
  const t = useText(fetchModelsTexts);
  if (modes == null) return null;
  return (
    <span className="tick-modes">
      {modes.length === 0 ? <Tag minimal>{t('mode.none')}</Tag> : null}
      {modes.map((mode) => (
        <Tag key={mode} minimal>
          {t(`mode.${mode}`)}
        </Tag>
      ))}
    </span>
  );
}
