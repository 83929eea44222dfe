import './dashboard.css';
import { Callout } from '@blueprintjs/core';
import { LiveBadge } from '../kit/live/LiveBadge.js';
import { useLiveStatus } from '../kit/live/liveConnection.js';
import { PageFrame } from '../kit/PageFrame.js';
import { isAdmin, isRoot, readsAll, useSignedIn } from '../kit/SessionProvider.js';
import { useHistory } from '../kit/useHistory.js';
import { useText } from '../kit/words/i18n.js';
import { ChannelBoard } from './ChannelBoard.js';
import { dashboardTexts } from './dashboard.texts.js';
import { FirstSteps } from './FirstSteps.js';
import { GatewayTraffic } from './GatewayTraffic.js';
import { OwnUsage } from './OwnUsage.js';
import { UsageHistory } from './UsageHistory.js';

/** What happens now, and what went before: to the whole gateway for administrators, to one's own wallet for others. */
export function DashboardPage() {
  const t = useText(dashboardTexts);
  const viewer = useSignedIn();
  const { warning, isWhole } = useHistory();
  const isLost = useLiveStatus().state === 'lost';
  return (
    <PageFrame title={t('title')} warning={warning} actions={<LiveBadge />}>
      {isLost && (
        <Callout intent="warning" compact className="page-warning" role="alert">
          {t('lost')}
        </Callout>
      )}
      {isRoot(viewer) && <FirstSteps />}
      <div className={isLost ? 'dashboard dashboard-stale' : 'dashboard'}>
        {isAdmin(viewer) ? (
          <>
            <GatewayTraffic />
            <UsageHistory admin />
            <ChannelBoard />
          </>
        ) : (
          <>
            <OwnUsage isHistoryWhole={isWhole} />
            <UsageHistory admin={readsAll(viewer)} />
          </>
        )}
      </div>
    </PageFrame>
  );
}
