import { Button, Callout, Collapse } from '@blueprintjs/core';
import { ChevronDown, ChevronRight } from '@blueprintjs/icons';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import type { ChannelChoicesQuery, EditedChannelFragment } from '../generated/channels/channels.js';
import { PasswordField, SwitchField, TextAreaField, TextField } from '../kit/form/Fields.js';
import { useText } from '../kit/words/i18n.js';
import { ChannelSettingField } from './ChannelSettingField.js';
import {
  type ChannelDraft,
  type ChannelField,
  type ChannelProblem,
  choiceOf,
  problemsOf,
  upstreamOf,
  withType,
} from './channelDraft.js';
import { channelsTexts } from './channels.texts.js';
import { EngineFields } from './EngineFields.js';
import { FetchModels } from './FetchModels.js';
import { GroupsField } from './GroupsField.js';
import { JsonField } from './JsonField.js';
import { ModelsField } from './ModelsField.js';
import { PairsField } from './PairsField.js';
import { TypeSelect } from './TypeSelect.js';

interface ChannelFormProps {
  readonly id: string;
  readonly choices: ChannelChoicesQuery;
  readonly initial: ChannelDraft;
  /** The channel it edits; null: it makes a new one. */
  readonly before: EditedChannelFragment | null;
  /** The server asks for the key again: where it is sent has changed. */
  readonly keyNeeded?: boolean;
  /** Called with whether what is typed differs from what it began with. */
  readonly onUnsaved: (unsaved: boolean) => void;
  /** Called with a draft without problems. */
  readonly onSubmit: (draft: ChannelDraft) => Promise<void>;
}

const jsonFields = ['modelMapping', 'statusCodeMapping', 'paramOverride'] as const;
const advanced: readonly ChannelField[] = [...jsonFields, 'setting', 'proxy', 'maxInputTokens'];

export function ChannelForm({
  id,
  choices,
  initial,
  before,
  keyNeeded = false,
  onUnsaved,
  onSubmit,
}: ChannelFormProps) {
  const t = useText(channelsTexts);
  const [draft, setDraft] = useState(initial);
  const [refusals, setRefusals] = useState(0);
  const judged = refusals > 0 || keyNeeded;
  const form = useRef<HTMLFormElement>(null);
  const [unfolded, setUnfolded] = useState(false);
  const { channelTypes, groups, enabledModels } = choices;
  const choice = choiceOf(channelTypes, draft.type);
  const problems = problemsOf(draft, choice, before);
  const keyProblem = keyNeeded && draft.key.trim() === '' ? 'keyNeeded' : undefined;

  // Once what was folded is in sight: to where something has to be corrected.
  useEffect(() => {
    if (refusals > 0 || keyNeeded) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [refusals, keyNeeded]);

  const unsaved = JSON.stringify(draft) !== JSON.stringify(initial);
  useEffect(() => onUnsaved(unsaved), [unsaved, onUnsaved]);

  const change = (patch: Partial<ChannelDraft>): void => setDraft((now) => ({ ...now, ...patch }));
  /** Label, value and complaint of a text field. */
  const text = <Field extends ChannelField>(field: Field) => {
    const problem: ChannelProblem | undefined = problems[field] ?? (field === 'key' ? keyProblem : undefined);
    return {
      value: draft[field],
      onChange: (value: ChannelDraft[Field]) => change({ [field]: value }),
      error: judged && problem !== undefined ? t(`problem.${problem}`) : undefined,
    };
  };

  const json = (field: (typeof jsonFields)[number]) => ({
    label: t(`form.${field}`),
    hint: t(`form.${field}Hint`),
    placeholder: t(`form.${field}Example`),
    ...text(field),
  });

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (advanced.some((field) => problems[field] !== undefined)) setUnfolded(true);
    if (Object.keys(problems).length === 0) void onSubmit(draft);
    else setRefusals(refusals + 1);
  };

  const keyHint = choice?.keyHint ?? '';

  return (
    <form ref={form} id={id} onSubmit={submit} noValidate className="channel-form">
      {judged && Object.keys(problems).length > 0 && (
        <Callout intent="danger" compact role="alert">
          {t('form.problems')}
        </Callout>
      )}
      <TypeSelect
        label={t('form.type')}
        choices={channelTypes}
        value={draft.type}
        error={judged && problems.type !== undefined ? t(`problem.${problems.type}`) : undefined}
        onChange={(type) => {
          const next = choiceOf(channelTypes, type);
          if (next !== undefined && type !== draft.type) setDraft(withType(draft, next, choice));
        }}
      />
      <TextField label={t('form.name')} required autoFocus={before === null} {...text('name')} />
      {before === null ? (
        <TextAreaField
          label={t('form.key')}
          required
          rows={choice?.documentKey ? 6 : 2}
          monospace
          hint={t(choice?.documentKey ? 'form.keyDocument' : 'form.keyLines', { hint: keyHint })}
          {...text('key')}
        />
      ) : (
        <PasswordField label={t('form.key')} hint={t('form.keyKeep')} autoComplete="new-password" {...text('key')} />
      )}
      <TextField
        label={t('form.baseUrl')}
        type="url"
        required={choice?.defaultBaseUrl === ''}
        placeholder={choice?.defaultBaseUrl}
        hint={t(choice?.defaultBaseUrl === '' ? 'form.baseUrlNeeded' : 'form.baseUrlHint')}
        {...text('baseUrl')}
      />
      {before === null && <EngineFields draft={draft} onChange={change} />}
      {typeof choice?.otherHint === 'string' && (
        <TextField label={t('form.other')} hint={choice.otherHint} required={choice.otherIsRegion} {...text('other')} />
      )}
      {choice?.billsOrganization && (
        <TextField label={t('form.organization')} hint={t('form.organizationHint')} {...text('organization')} />
      )}
      <ModelsField
        defaults={choice?.defaultModels ?? []}
        enabled={enabledModels}
        tools={
          choice?.listsModels && (
            <FetchModels
              channel={before?.id ?? null}
              draft={upstreamOf(draft, choice)}
              models={draft.models}
              mapping={draft.modelMapping}
              onChange={(models) => change({ models })}
            />
          )
        }
        {...text('models')}
      />
      <GroupsField known={groups} {...text('groups')} />
      <fieldset className="field-row">
        <legend className="visually-hidden">{t('form.routing')}</legend>
        <TextField label={t('form.priority')} hint={t('form.priorityHint')} {...text('priority')} />
        <TextField label={t('form.weight')} hint={t('form.weightHint')} {...text('weight')} />
      </fieldset>
      <div className="field-row">
        <TextField label={t('form.tag')} {...text('tag')} />
        <TextField label={t('form.testModel')} hint={t('form.testModelHint')} {...text('testModel')} />
      </div>
      <SwitchField
        label={t('form.autoBan')}
        hint={t('form.autoBanHint')}
        value={draft.autoBan}
        onChange={(autoBan) => change({ autoBan })}
      />
      <Button
        variant="minimal"
        className="advanced-toggle"
        icon={unfolded ? <ChevronDown /> : <ChevronRight />}
        text={t('form.advanced')}
        aria-expanded={unfolded}
        onClick={() => setUnfolded(!unfolded)}
      />
      <Collapse isOpen={unfolded}>
        <PairsField {...json('modelMapping')} names={t('json.requestedModel')} values={t('json.upstreamModel')} />
        <PairsField {...json('statusCodeMapping')} names={t('json.upstreamStatus')} values={t('json.answeredStatus')} />
        <JsonField {...json('paramOverride')} />
        <ChannelSettingField {...text('setting')} />
        <TextField label={t('form.proxy')} hint={t('form.proxyHint')} {...text('proxy')} />
        <TextField label={t('form.maxInputTokens')} hint={t('form.maxInputTokensHint')} {...text('maxInputTokens')} />
      </Collapse>
    </form>
  );
}
