import { useApolloClient } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { useState } from 'react';
import { type SettingChangeFragment, WholeSettingChangeDocument } from '../generated/settings/history.js';
import { Time } from '../kit/Time.js';
import { toaster } from '../kit/Toasts.js';
import { formatTime } from '../kit/time.js';
import { codeText, errorText } from '../kit/words/errors.js';
import { useText } from '../kit/words/i18n.js';
import { memberChanges } from './memberChanges.js';
import { useSettings } from './SettingsProvider.js';
import { settingsTexts } from './settings.texts.js';
import { useSettingName } from './settingWords.js';

interface OptionChangeProps {
  readonly change: SettingChangeFragment;
  readonly onReverted: () => void;
}

/** One change of an option: who, when, from what to what. */
export function OptionChange({ change: listed, onReverted }: OptionChangeProps) {
  const t = useText(settingsTexts);
  const name = useSettingName();
  const client = useApolloClient();
  const { options, save } = useSettings();
  const [whole, setWhole] = useState<SettingChangeFragment | null>(null);
  const [busy, setBusy] = useState(false);
  const change = whole ?? listed;
  const option = options.get(change.key);

  /** With all of its texts, which a list cuts. */
  const fetchWhole = async (): Promise<SettingChangeFragment> => {
    if (!change.isCut) return change;
    const { data } = await client.query({
      query: WholeSettingChangeDocument,
      variables: { position: change.position },
      fetchPolicy: 'network-only',
    });
    if (data === undefined) throw new Error('the server did not return the change');
    setWhole(data.optionChange);
    return data.optionChange;
  };

  const working = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    await work().catch((error: unknown) => toaster.failure(errorText(error)));
    setBusy(false);
  };

  const revert = async (): Promise<void> => {
    const { from } = await fetchWhole();
    if (option === undefined || from === null) return;
    if (option.value === from) return toaster.warning(t('history.same'));
    const [refused] = await save([{ key: option.key, value: from, seenAt: option.position }]);
    if (refused === undefined) toaster.success(t('history.reverted'));
    else toaster.failure(codeText(refused.code, { field: refused.field ?? '', allowed: refused.allowed ?? '' }));
    onReverted();
  };

  return (
    <article className="option-change">
      <div className="option-change-head">
        <h5>{name(change.key)}</h5>
        <span className="cell-second">
          {change.by?.username ?? t('history.unknown')} · <Time at={change.at} />
        </span>
      </div>
      <ChangedTexts change={change} />
      <div className="option-change-buttons">
        {change.isCut && (
          <Button
            size="small"
            text={t('history.whole')}
            disabled={busy}
            onClick={() => void working(() => fetchWhole().then(() => undefined))}
          />
        )}
        {!change.isHidden && option !== undefined && (
          <Button
            size="small"
            text={t('history.revert')}
            aria-label={t('history.revertLabel', { name: name(change.key), at: formatTime(change.at) })}
            disabled={busy}
            onClick={() => void working(revert)}
          />
        )}
      </div>
    </article>
  );
}

const maxMembers = 50;
/** Characters of a text in a list, as the server has it. */
const cutAt = 1_000;

function ChangedTexts({ change }: { readonly change: SettingChangeFragment }) {
  const t = useText(settingsTexts);
  const { from, to, isFirst, isCut, isHidden } = change;
  const members = from === null || to === null || isCut ? null : memberChanges(from, to);
  if (members !== null && members.length > 0)
    return (
      <dl className="option-change-texts">
        {members.slice(0, maxMembers).map((member) => (
          <div key={member.name} className="option-change-member">
            <dt>{member.name}</dt>
            <dd>
              <code>{member.from ?? '—'}</code> → <code>{member.to ?? '—'}</code>
            </dd>
          </div>
        ))}
        {members.length > maxMembers && <div>{t('history.otherMembers', { count: members.length - maxMembers })}</div>}
      </dl>
    );
  const shown = (text: string | null): string => {
    if (text === '') return t('history.nothing');
    if (text === null) return t('history.secret');
    return isCut && text.length >= cutAt ? `${text}…` : text;
  };
  const initial = isFirst && !isHidden ? ` (${t('history.initial')})` : '';
  return (
    <dl className="option-change-texts">
      <dt>{t('history.from')}</dt>
      <dd>
        <pre>{`${shown(from)}${initial}`}</pre>
      </dd>
      <dt>{t('history.to')}</dt>
      <dd>
        <pre>{shown(to)}</pre>
      </dd>
    </dl>
  );
}
