import { useQuery } from '@apollo/client/react';
import { Button } from '@blueprintjs/core';
import { useEffect, useRef, useState } from 'react';
import {
  ChannelHistoryDocument,
  type ChannelHistoryItemFragment,
  type ChannelHistoryPart,
} from '../generated/kit/channel/channelHealth.js';
import { ChangeLine } from '../kit/channel/ChangeLine.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { Section } from '../kit/Section.js';
import { SelectFilter } from '../kit/table/FilterBar.js';
import { useListParams } from '../kit/table/useListParams.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { useText } from '../kit/words/i18n.js';
import type { ChannelChoice } from './channelDraft.js';
import { channelPageTexts } from './channelPage.texts.js';
import { useFieldName } from './useFieldName.js';

interface ChannelHistoryProps {
  readonly id: string;
  readonly choices: ReadonlyMap<number, ChannelChoice>;
  /** Grows with everything that happens to the channel: there is more to read. */
  readonly changes: number;
}

const parts = ['SWITCHED', 'CHANGED', 'TESTED', 'BALANCE'] as const satisfies readonly ChannelHistoryPart[];

/** What became of the channel, newest first, all or a part of it. */
export function ChannelHistory({ id, choices, changes }: ChannelHistoryProps) {
  const t = useText(channelPageTexts);
  const common = useText(commonTexts);
  const [params, setParams] = useListParams({ part: '' });
  const part = parts.find((one) => one === params.part) ?? null;
  return (
    <Section title={t('history')}>
      <div className="channel-range">
        <SelectFilter
          label={t('history.part')}
          value={part ?? ''}
          options={[
            { value: '', label: common('all') },
            ...parts.map((one) => ({ value: one, label: t(`history.${one}`) })),
          ]}
          onChange={(chosen) => setParams({ part: chosen })}
        />
      </div>
      <ol className="change-lines" aria-label={t('history')}>
        <HistoryPage key={part} id={id} part={part} before={null} choices={choices} changes={changes} />
      </ol>
    </Section>
  );
}

const pageSize = 20;

interface HistoryPageProps extends ChannelHistoryProps {
  readonly part: ChannelHistoryPart | null;
  /** The position of the last change above; null: these are the newest. */
  readonly before: number | null;
}

/** Twenty changes, and, once they are asked for, those below them. */
function HistoryPage({ id, part, before, choices, changes }: HistoryPageProps) {
  const t = useText(channelPageTexts);
  const [goesOn, setGoesOn] = useState(false);
  const result = useQuery(ChannelHistoryDocument, {
    variables: { channelId: id, part, before, first: pageSize },
    fetchPolicy: 'cache-and-network',
  });
  const { refetch } = result;
  const seen = useRef(changes);
  useEffect(() => {
    if (seen.current === changes) return;
    seen.current = changes;
    void refetch();
  }, [changes, refetch]);

  const history = (result.data ?? result.previousData)?.channelHistory;
  if (history === undefined)
    return (
      <li>
        <QueryNotice {...result} />
      </li>
    );
  const last = history.items.at(-1);
  return (
    <>
      {before === null && last === undefined && <li className="channel-empty">{t('history.none')}</li>}
      {history.items.map((item) => (
        <ChangeLine key={item.change.position} change={item.change}>
          <Fields item={item} choices={choices} />
        </ChangeLine>
      ))}
      {last !== undefined &&
        history.hasMore &&
        (goesOn ? (
          <HistoryPage id={id} part={part} before={last.change.position} choices={choices} changes={changes} />
        ) : (
          <li>
            <Button text={t('history.older')} onClick={() => setGoesOn(true)} />
          </li>
        ))}
    </>
  );
}

interface FieldsProps extends Pick<ChannelHistoryProps, 'choices'> {
  readonly item: ChannelHistoryItemFragment;
}

function Fields({ item: { fields, change, balanceBefore }, choices }: FieldsProps) {
  const t = useText(channelPageTexts);
  const nameOf = useFieldName();
  if (change.kind === 'BALANCE_TOLD' && balanceBefore !== null)
    return <div className="change-reason">{t('history.balanceBefore', { balance: balanceBefore })}</div>;
  if (fields.length === 0) return null;
  return (
    <dl className="channel-fields">
      {fields.map(({ field, from, to, isCut }) => (
        <div key={field}>
          <dt>{nameOf(field)}</dt>
          <dd>
            {from === null || to === null ? (
              t('history.secret')
            ) : (
              <>
                <del>{shown(field, from, choices) || t('history.nothing')}</del> →{' '}
                <ins>{shown(field, to, choices) || t('history.nothing')}</ins>
                {isCut && '…'}
              </>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const shown = (field: string, text: string, choices: FieldsProps['choices']): string =>
  field === 'type' ? (choices.get(Number(text))?.name ?? text) : text.replaceAll('\n', ', ');
