import { useQuery } from '@apollo/client/react';
import { Card } from '@blueprintjs/core';
import { ChannelHistoryDocument } from '../generated/kit/channel/channelHealth.js';
import { ChangeLine } from '../kit/channel/ChangeLine.js';
import { useRegained } from '../kit/live/liveConnection.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { useText } from '../kit/words/i18n.js';
import { lastChanges, maxChanges, type SeenChange } from './boardChanges.js';
import { dashboardTexts } from './dashboard.texts.js';

/** What was switched in the last day while nobody looked, and what happens now. `seen`: newest first. */
export function JustHappened({ seen }: { readonly seen: readonly SeenChange[] }) {
  const t = useText(dashboardTexts);
  const result = useQuery(ChannelHistoryDocument, {
    variables: { part: 'SWITCHED', first: maxChanges },
    fetchPolicy: 'network-only',
  });
  // What happened while the connection was lost, nobody said.
  useRegained(() => void result.refetch());
  const changes = lastChanges(seen, result.data?.channelHistory.items ?? [], Date.now() / 1_000);
  return (
    <Card className="panel">
      <h2 className="panel-title">{t('changes.title')}</h2>
      {result.data === undefined && <QueryNotice {...result} />}
      {result.data !== undefined && changes.length === 0 && <p className="panel-empty">{t('changes.none')}</p>}
      <div className="changes" role="log" aria-label={t('changes.title')}>
        <ol className="change-lines">
          {changes.map(({ change, name }) => (
            <ChangeLine key={change.position} change={change} name={name} />
          ))}
        </ol>
      </div>
    </Card>
  );
}
