import './channels.css';
import './channelPage.css';
import { useQuery } from '@apollo/client/react';
import { Button, Callout } from '@blueprintjs/core';
import { Disable, Edit, Pulse, Tick } from '@blueprintjs/icons';
import { useMemo, useState } from 'react';
import { Link, useParams } from 'react-router-dom';
import { ChannelPageDocument, type ChannelPageQuery } from '../generated/channels/channelPage.js';
import { ChannelChoicesDocument } from '../generated/channels/channels.js';
import { ChannelStatusTag } from '../kit/channel/ChannelStatusTag.js';
import { ResponseTimeBadge } from '../kit/channel/ResponseTimeBadge.js';
import { useChannelHealth } from '../kit/channel/useChannelHealth.js';
import { Fact, Facts } from '../kit/Facts.js';
import { LinkButton } from '../kit/LinkButton.js';
import { LiveBadge } from '../kit/live/LiveBadge.js';
import { useRegained } from '../kit/live/liveConnection.js';
import { PageFrame } from '../kit/PageFrame.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { QuotaText } from '../kit/QuotaText.js';
import { Section } from '../kit/Section.js';
import { Time } from '../kit/Time.js';
import { addressOf, itemOf } from '../kit/table/openItem.js';
import { commonTexts } from '../kit/words/common.texts.js';
import { failureCode } from '../kit/words/errors.js';
import { useText } from '../kit/words/i18n.js';
import { BalanceCell } from './BalanceCell.js';
import { ChannelFigures } from './ChannelFigures.js';
import { ChannelHistory } from './ChannelHistory.js';
import type { ChannelChoice } from './channelDraft.js';
import { channelPageTexts } from './channelPage.texts.js';
import { channelsTexts } from './channels.texts.js';
import { GroupTags } from './GroupTags.js';
import { TypeLabel } from './TypeLabel.js';
import { useChannelOrders } from './useChannelOrders.js';

/** One channel: how it is, how it did, why it failed, and what became of it. Of one that is gone, the last three. */
export function ChannelPage() {
  const t = useText(channelPageTexts);
  const { id = '' } = useParams();
  const result = useQuery(ChannelPageDocument, { variables: { id }, fetchPolicy: 'cache-and-network' });
  const { data: known } = useQuery(ChannelChoicesDocument);
  const choices = useMemo(
    () => new Map((known?.channelTypes ?? []).map((choice) => [choice.type, choice])),
    [known?.channelTypes],
  );
  // Live updates bring the channel along; only that it is gone has to be asked.
  const [changes, setChanges] = useState(0);
  useChannelHealth(({ channelId, kind }) => {
    if (channelId !== id) return;
    setChanges((before) => before + 1);
    if (kind === 'REMOVED') void result.refetch();
  });
  useRegained(() => {
    setChanges((before) => before + 1);
    void result.refetch();
  });

  const isGone = failureCode(result.error) === 'channel-not-found';
  const channel = isGone ? undefined : result.data?.channel;
  return (
    <PageFrame
      title={channel?.name ?? t('title', { id })}
      actions={
        <>
          <LiveBadge />
          {channel !== undefined && <ChannelOrders channel={channel} />}
        </>
      }
    >
      {isGone && (
        <Callout compact intent="warning" className="page-warning">
          {t('gone')}
        </Callout>
      )}
      {channel === undefined && !isGone && <QueryNotice {...result} />}
      {channel !== undefined && <Overview channel={channel} choices={choices} />}
      {(channel !== undefined || isGone) && (
        <>
          <ChannelFigures id={id} />
          <ChannelHistory id={id} choices={choices} changes={changes} />
        </>
      )}
    </PageFrame>
  );
}

type ShownChannel = ChannelPageQuery['channel'];

function ChannelOrders({ channel }: { readonly channel: ShownChannel }) {
  const t = useText(channelPageTexts);
  const common = useText(commonTexts);
  const orders = useChannelOrders();
  const [busy, setBusy] = useState<'test' | 'switch' | null>(null);
  const isEnabled = channel.status === 'ENABLED';
  const during = async (what: 'test' | 'switch', order: Promise<void>): Promise<void> => {
    setBusy(what);
    await order;
    setBusy(null);
  };
  return (
    <>
      <Button
        icon={<Pulse />}
        text={t('test')}
        loading={busy === 'test'}
        onClick={() => void during('test', orders.testAndReport(channel))}
      />
      <Button
        icon={isEnabled ? <Disable /> : <Tick />}
        text={common(isEnabled ? 'disable' : 'enable')}
        loading={busy === 'switch'}
        onClick={() => void during('switch', orders.setEnabled(channel, !isEnabled))}
      />
      <LinkButton to={addressOf('/channel', channel.id)} icon={<Edit />}>
        {common('edit')}
      </LinkButton>
    </>
  );
}

interface OverviewProps {
  readonly channel: ShownChannel;
  readonly choices: ReadonlyMap<number, ChannelChoice>;
}

function Overview({ channel, choices }: OverviewProps) {
  const t = useText(channelPageTexts);
  const words = useText(channelsTexts);
  const orders = useChannelOrders();
  const choice = choices.get(channel.type);
  return (
    <Section title={t('overview')}>
      <div className="channel-facts">
        <Facts>
          <Fact name={words('column.status')}>
            <ChannelStatusTag {...channel} />
            {channel.status === 'AUTO_DISABLED' && <div className="channel-reason">{channel.statusReason}</div>}
          </Fact>
          <Fact name={words('column.responseTime')}>
            <ResponseTimeBadge {...channel} />
            {channel.testError !== null && <div className="channel-reason">{channel.testError}</div>}
          </Fact>
          <Fact name={words('column.testedAt')}>
            <Time at={channel.testedAt} />
          </Fact>
          <Fact name={words('column.balance')}>
            <BalanceCell channel={channel} reportsBalance={choice?.balance ?? false} orders={orders} />
          </Fact>
        </Facts>
        <Facts>
          <Fact name={words('column.type')}>
            <TypeLabel type={channel.type} choice={choice} />
          </Fact>
          <Fact name={words('form.baseUrl')}>{channel.baseUrl || choice?.defaultBaseUrl}</Fact>
          <Fact name={words('column.groups')}>
            <GroupTags groups={channel.groups} />
          </Fact>
          <Fact name={words('column.models')}>
            <span title={channel.models.join('\n')}>{words('models.count', { models: channel.models.length })}</span> ·{' '}
            <Link to={addressOf('/channel', itemOf('test', channel.id))}>{t('testModels')}</Link>
          </Fact>
        </Facts>
        <Facts>
          <Fact name={words('column.priority')}>{String(channel.priority)}</Fact>
          <Fact name={words('column.weight')}>{String(channel.weight)}</Fact>
          <Fact name={words('column.tag')}>{channel.tag}</Fact>
          <Fact name={words('column.usedQuota')}>
            <QuotaText quota={channel.usedQuota} />
          </Fact>
          <Fact name={words('column.createdAt')}>
            <Time at={channel.createdAt} />
          </Fact>
        </Facts>
      </div>
    </Section>
  );
}
