import { useQuery } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { useState } from 'react';
import { SettingHistoryDocument } from '../generated/settings/history.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { DetailDrawer } from '../kit/table/DetailDrawer.js';
import { useText } from '../kit/words/i18n.js';
import { OptionChange } from './OptionChange.js';
import { settingsTexts } from './settings.texts.js';
import { useSettingName } from './settingWords.js';

interface HistoryDrawerProps {
  /** null: all of them. */
  readonly option: string | null;
  readonly onClose: () => void;
}

/** Who changed what from what to what, and the way back. */
export function HistoryDrawer({ option, onClose }: HistoryDrawerProps) {
  const t = useText(settingsTexts);
  const name = useSettingName();
  const title = option === null ? t('history.all') : t('history.title', { name: name(option) });
  return (
    <DetailDrawer title={title} onClose={onClose}>
      <HistoryPart option={option} before={null} />
    </DetailDrawer>
  );
}

const partSize = 20;

interface HistoryPartProps {
  readonly option: string | null;
  /** The position of the last change above; null: these are the newest. */
  readonly before: number | null;
}

/** A page of changes, and, once it is asked for, the one below it. */
function HistoryPart({ option, before }: HistoryPartProps) {
  const t = useText(settingsTexts);
  const [goesOn, setGoesOn] = useState(false);
  const result = useQuery(SettingHistoryDocument, {
    variables: { key: option, before, first: partSize },
    fetchPolicy: 'cache-and-network',
  });
  const history = result.data?.optionHistory;
  if (history === undefined) return <QueryNotice {...result} />;
  const last = history.items.at(-1);
  return (
    <>
      {before === null && last === undefined && <p>{t('history.empty')}</p>}
      {history.items.map((change) => (
        <OptionChange key={change.position} change={change} onReverted={() => void result.refetch()} />
      ))}
      {last !== undefined &&
        history.hasMore &&
        (goesOn ? (
          <HistoryPart option={option} before={last.position} />
        ) : (
          <Button className="option-history-more" text={t('history.more')} onClick={() => setGoesOn(true)} />
        ))}
    </>
  );
}
