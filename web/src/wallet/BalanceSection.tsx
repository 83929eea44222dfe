import { useSubscription } from '@apollo/client/react';
import { WalletBalanceDocument } from '../generated/wallet/wallet.js';
import { Fact, Facts } from '../kit/Facts.js';
import { formatExactly } from '../kit/figures.js';
import { QuotaText } from '../kit/QuotaText.js';
import { Section } from '../kit/Section.js';
import { useText } from '../kit/words/i18n.js';
import { walletTexts } from './wallet.texts.js';

/** As it is at this moment: it moves when a code is redeemed elsewhere, or a call is charged. */
export function BalanceSection() {
  const t = useText(walletTexts);
  const { data } = useSubscription(WalletBalanceDocument);
  const wallet = data?.balance;
  return (
    <Section title={t('balance.title')}>
      <p className="wallet-available" role="status" aria-label={t('balance.available')}>
        {wallet === undefined ? '—' : <QuotaText quota={wallet.available} digits={4} />}
      </p>
      <Facts>
        <Fact name={t('balance.used')}>{wallet && <QuotaText quota={wallet.usedQuota} digits={4} />}</Fact>
        <Fact name={t('balance.requests')}>
          {wallet && <span className="figures">{formatExactly(wallet.requestCount)}</span>}
        </Fact>
      </Facts>
    </Section>
  );
}
