import { Button, ButtonGroup, Tag } from '@blueprintjs/core';
import { Cross, History, Reset, Trash } from '@blueprintjs/icons';
import { type JSX, useState } from 'react';
import type { SettingOptionFragment } from '../generated/settings/settings.js';
import { itemOf, useOpenItem } from '../kit/table/openItem.js';
import { codeText } from '../kit/words/errors.js';
import { useText } from '../kit/words/i18n.js';
import { isInitial, isJson, problemOf, shownText, storedText } from './drafts.js';
import { SettingControl } from './SettingControl.js';
import { type Refused, useSettings } from './SettingsProvider.js';
import type { SettingField } from './sections.js';
import { settingsTexts } from './settings.texts.js';
import { useSettingHint, useSettingName } from './settingWords.js';
import { useProblemText } from './useProblemText.js';

interface SettingRowProps {
  readonly field: SettingField;
  readonly option: SettingOptionFragment;
  /** Somebody has tried to save: from now on what is wrong is said at once. */
  readonly judged: boolean;
}

const maxNow = 200;

/** One option: its control, what is wrong with it, and what can be done with it besides. */
export function SettingRow({ field, option, judged }: SettingRowProps) {
  const t = useText(settingsTexts);
  const name = useSettingName();
  const hint = useSettingHint();
  const problemText = useProblemText();
  const refusalText = useRefusalText();
  const { drafts, refused, type } = useSettings();
  const [left, setLeft] = useState(false);
  const draft = drafts.get(option.key);
  const text = draft?.text ?? storedText(option);
  // What nobody has touched is no mistake of whoever looks at it.
  const problem = draft === undefined ? null : problemOf(option, field, text);
  const refusal = refused.get(option.key);
  const error =
    problem !== null && (judged || left)
      ? problemText(problem)
      : refusal === undefined
        ? undefined
        : refusalText(refusal, option);
  const label = name(field.key);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only hears that the field in it is left
    <div
      className={draft === undefined ? 'setting' : 'setting setting-changed'}
      // JSON is judged when it is left: while it is being typed, it is never whole.
      onBlur={() => setLeft(true)}
      onFocus={() => setLeft(!isJson(option))}
    >
      <div className="setting-control">
        <SettingControl
          option={option}
          label={label}
          hint={option.fixed === null ? hint(field.key) : `${hint(field.key)} ${t(`fixed.${option.fixed}`)}`}
          disabled={option.fixed !== null}
          error={error}
          text={text}
          isQuota={field.holds === 'quota'}
          isRemoved={draft?.text === '' && option.kind === 'SECRET'}
          onType={(typed) => type(option, typed)}
        />
        {refusal?.code === 'option-changed' && <Conflict option={option} />}
      </div>
      <div className="setting-actions">
        {draft !== undefined && (
          <Tag minimal intent="warning">
            {t('mark.changed')}
          </Tag>
        )}
        <RowActions option={option} label={label} text={text} isChanged={draft !== undefined} />
      </div>
    </div>
  );
}

function useRefusalText(): (refusal: Refused, option: SettingOptionFragment) => string {
  const t = useText(settingsTexts);
  const name = useSettingName();
  return ({ code, field, allowed, needed, now }, option) => {
    if (needed !== null) return t('refused.needs', { name: name(needed) });
    if (code !== 'option-changed') return codeText(code, { field: field ?? option.key, allowed: allowed ?? '' });
    if (now?.value === null || now === null) return t('refused.changedSecret');
    return t('refused.changed', { now: shownText(option, now.value).slice(0, maxNow) || t('history.nothing') });
  };
}

/** Somebody else was faster: whose value is it to be? */
function Conflict({ option }: { readonly option: SettingOptionFragment }) {
  const t = useText(settingsTexts);
  const { discard, insist } = useSettings();
  return (
    <ButtonGroup className="setting-conflict">
      <Button size="small" text={t('conflict.theirs')} onClick={() => discard(option.key)} />
      <Button size="small" text={t('conflict.mine')} onClick={() => insist(option)} />
    </ButtonGroup>
  );
}

interface RowActionsProps {
  readonly option: SettingOptionFragment;
  readonly label: string;
  readonly text: string;
  readonly isChanged: boolean;
}

function RowActions({ option, label, text, isChanged }: RowActionsProps) {
  const t = useText(settingsTexts);
  const { show } = useOpenItem();
  const { type, remove, discard } = useSettings();
  const isSecret = option.kind === 'SECRET';
  return (
    <>
      {isChanged && (
        <Action
          icon={<Cross size={14} />}
          label={t('action.discard', { name: label })}
          onClick={() => discard(option.key)}
        />
      )}
      {!isChanged && !isInitial(option, text) && (
        <Action
          icon={isSecret ? <Trash size={14} /> : <Reset size={14} />}
          label={t(isSecret ? 'action.removeSecret' : 'action.initial', { name: label })}
          onClick={() => (isSecret ? remove(option) : type(option, shownText(option, option.initial)))}
        />
      )}
      <Action
        icon={<History size={14} />}
        label={t('action.history', { name: label })}
        onClick={() => show(itemOf('history', option.key))}
      />
    </>
  );
}

interface ActionProps {
  readonly icon: JSX.Element;
  readonly label: string;
  readonly onClick: () => void;
}

const Action = ({ icon, label, onClick }: ActionProps) => (
  <Button variant="minimal" size="small" icon={icon} aria-label={label} title={label} onClick={onClick} />
);
