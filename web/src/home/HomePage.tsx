import { Callout } from '@blueprintjs/core';
import { LazyOperatorText } from '../kit/LazyOperatorText.js';
import { OperatorPage } from '../kit/OperatorPage.js';
import { useDocumentTitle } from '../kit/PageFrame.js';
import { useStatus } from '../kit/SessionProvider.js';
import { useText } from '../kit/words/i18n.js';
import { homeTexts } from './home.texts.js';
import { ProductPage } from './ProductPage.js';

/** What the operator put here, text or another site's page; else what this gateway is. */
export function HomePage() {
  const t = useText(homeTexts);
  const { homePage, notice } = useStatus();
  useDocumentTitle('');
  const own = homePage.trim();
  return (
    <div className="home">
      {notice.trim() !== '' && (
        <Callout compact className="home-notice">
          <LazyOperatorText text={notice} />
        </Callout>
      )}
      {own === '' ? <ProductPage /> : <OperatorPage content={own} label={t('frame')} />}
    </div>
  );
}
