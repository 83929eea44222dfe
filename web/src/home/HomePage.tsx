import { Callout } from '@blueprintjs/core';
import { LazyOperatorText } from '../kit/LazyOperatorText.js';
import { useDocumentTitle } from '../kit/PageFrame.js';
import { useStatus } from '../kit/session.js';
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
      {own === '' ? <ProductPage /> : <OwnHome content={own} label={t('frame')} />}
    </div>
  );
}

/** An address is shown in a frame: the page behind it must not touch this one. */
function OwnHome({ content, label }: { readonly content: string; readonly label: string }) {
  if (!/^https?:\/\/\S+$/.test(content)) return <LazyOperatorText text={content} />;
  return (
    <iframe
      className="home-frame"
      src={content}
      title={label}
      sandbox="allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox"
      referrerPolicy="no-referrer"
    />
  );
}
