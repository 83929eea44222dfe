import { useApolloClient, useQuery } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { useState } from 'react';
import {
  PriceHistoryDocument,
  type PriceHistoryQuery,
  PriceRevertDocument,
  type ProposalFragment,
} from '../../generated/settings/prices/prices.js';
import { QueryNotice } from '../../kit/QueryNotice.js';
import { Time } from '../../kit/Time.js';
import { toaster } from '../../kit/Toasts.js';
import { DetailDrawer } from '../../kit/table/DetailDrawer.js';
import { namedBy } from '../../kit/table/openItem.js';
import { formatTime } from '../../kit/time.js';
import { errorText } from '../../kit/words/errors.js';
import { useText } from '../../kit/words/i18n.js';
import { historyItem } from './PriceDrawer.js';
import { Differences, Proposals } from './Proposals.js';
import { pricesTexts } from './prices.texts.js';

type Change = PriceHistoryQuery['priceHistory']['items'][number];

interface PriceHistoryDrawerProps {
  /** What the address opens. */
  readonly open: string | null;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

interface Reverting {
  readonly change: Change;
  readonly proposals: readonly ProposalFragment[];
}

interface RevertOrder {
  readonly change: Change;
  /** With all other models of the change. */
  readonly isWhole: boolean;
}

/** Who changed which price, when, from where and to what; and the way back. Of one model, or of all. */
export function PriceHistoryDrawer({ open, onChanged, onClose }: PriceHistoryDrawerProps) {
  const model = namedBy(historyItem, open);
  if (open !== historyItem && model === null) return null;
  return <PriceHistory key={model ?? ''} model={model} onChanged={onChanged} onClose={onClose} />;
}

interface PriceHistoryProps extends Omit<PriceHistoryDrawerProps, 'open'> {
  /** null: all of them. */
  readonly model: string | null;
}

function PriceHistory({ model, onChanged, onClose }: PriceHistoryProps) {
  const t = useText(pricesTexts);
  const client = useApolloClient();
  const [reverting, setReverting] = useState<Reverting | null>(null);
  /** Counts what was taken back: the list is read anew then. */
  const [reverted, setReverted] = useState(0);

  const propose = async ({ change, isWhole }: RevertOrder): Promise<void> => {
    try {
      const { data } = await client.query({
        query: PriceRevertDocument,
        variables: { position: change.position, model: isWhole ? null : change.model },
        fetchPolicy: 'network-only',
      });
      const proposals = data?.priceRevert ?? [];
      if (proposals.every(({ differences }) => differences.length === 0)) toaster.warning(t('history.nothing'));
      else setReverting({ change, proposals });
    } catch (failure) {
      toaster.failure(errorText(failure));
    }
  };

  return (
    <DetailDrawer
      title={model === null ? t('history.title') : t('history.of', { name: model })}
      size="wide"
      onClose={onClose}
    >
      {reverting === null ? (
        <HistoryPart key={reverted} model={model} after={null} onRevert={(order) => void propose(order)} />
      ) : (
        <>
          <Button text={t('bulk.back')} onClick={() => setReverting(null)} />
          <Proposals
            label={t('history.revertTitle')}
            proposals={reverting.proposals}
            kind="REVERT"
            revertOf={reverting.change.position}
            onApplied={() => {
              setReverting(null);
              setReverted(reverted + 1);
              onChanged();
            }}
          />
        </>
      )}
    </DetailDrawer>
  );
}

const partSize = 20;

interface HistoryPartProps {
  readonly model: string | null;
  /** The last change above; null: these are the newest. */
  readonly after: Change | null;
  readonly onRevert: (order: RevertOrder) => void;
}

/** Whether it is the first that is listed of a change of several models. */
const isFirstOfMany = (change: Change, before: Change | null, next: Change | undefined): boolean =>
  before?.position !== change.position && next?.position === change.position;

function HistoryPart({ model, after, onRevert }: HistoryPartProps) {
  const t = useText(pricesTexts);
  const [goesOn, setGoesOn] = useState(false);
  const result = useQuery(PriceHistoryDocument, {
    variables: { model, before: after?.position ?? null, beforeModel: after?.model ?? '', first: partSize },
    fetchPolicy: 'network-only',
  });
  const history = result.data?.priceHistory;
  if (history === undefined) return <QueryNotice {...result} />;
  const last = history.items.at(-1);
  return (
    <>
      {after === null && last === undefined && <p>{t('history.empty')}</p>}
      {history.items.map((change, at) => (
        <ChangeArticle
          key={`${change.position} ${change.model}`}
          change={change}
          beginsMany={isFirstOfMany(change, history.items[at - 1] ?? after, history.items[at + 1])}
          onRevert={(isWhole) => onRevert({ change, isWhole })}
        />
      ))}
      {last !== undefined &&
        history.hasMore &&
        (goesOn ? (
          <HistoryPart model={model} after={last} onRevert={onRevert} />
        ) : (
          <Button className="option-history-more" text={t('history.more')} onClick={() => setGoesOn(true)} />
        ))}
    </>
  );
}

interface ChangeArticleProps {
  readonly change: Change;
  /** Others of the same change follow. */
  readonly beginsMany: boolean;
  readonly onRevert: (isWhole: boolean) => void;
}

function ChangeArticle({ change, beginsMany, onRevert }: ChangeArticleProps) {
  const t = useText(pricesTexts);
  const { model, at, by, origin, originName, differences, hasRecord } = change;
  return (
    <article className="option-change">
      <div className="option-change-head">
        <h5>{model}</h5>
        <span className="cell-second">
          {by?.username ?? t('history.nobody')} · {t(`history.from.${origin}`, { name: originName ?? '' })} ·{' '}
          <Time at={at} />
        </span>
      </div>
      {!hasRecord && <p>{t('history.removed')}</p>}
      <Differences differences={differences} />
      <div className="option-change-buttons">
        <Button
          size="small"
          text={t('history.revert')}
          aria-label={t('history.revertLabel', { name: model, at: formatTime(at) })}
          onClick={() => onRevert(false)}
        />
        {beginsMany && (
          <Button
            size="small"
            text={t('history.revertAll')}
            aria-label={t('history.revertAllLabel', { at: formatTime(at) })}
            onClick={() => onRevert(true)}
          />
        )}
      </div>
    </article>
  );
}
