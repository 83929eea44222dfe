import { InviteBox } from '../kit/invite/InviteBox.js';
import { PageFrame } from '../kit/PageFrame.js';
import { useText } from '../kit/words/i18n.js';
import { BalanceSection } from './BalanceSection.js';
import { ExportSection } from './ExportSection.js';
import { OwnOrdersSection } from './OwnOrdersSection.js';
import { RedeemSection } from './RedeemSection.js';
import { ReturnNotice } from './ReturnNotice.js';
import { TopUpSection } from './TopUpSection.js';
import { walletTexts } from './wallet.texts.js';
import './wallet.css';

/** What one has, how it becomes more, and what it was. */
export function WalletPage() {
  const t = useText(walletTexts);
  return (
    <PageFrame title={t('title')}>
      <ReturnNotice />
      <div className="sections">
        <BalanceSection />
        <TopUpSection />
        <RedeemSection />
        <ExportSection />
        <InviteBox />
      </div>
      <OwnOrdersSection />
    </PageFrame>
  );
}
