import './about.css';
import { useQuery } from '@apollo/client/react';
import { Link } from 'react-router-dom';
import { AboutDocument } from '../generated/about/about.js';
import { OperatorPage } from '../kit/OperatorPage.js';
import { useDocumentTitle } from '../kit/PageFrame.js';
import { QueryNotice } from '../kit/QueryNotice.js';
import { isRoot, useStatus, useViewer } from '../kit/SessionProvider.js';
import { useText } from '../kit/words/i18n.js';
import { aboutTexts } from './about.texts.js';

/** What the operator says of this gateway, text or another site's page; else what it is. */
export function AboutPage() {
  const t = useText(aboutTexts);
  const { data, loading, error, refetch } = useQuery(AboutDocument, { fetchPolicy: 'cache-and-network' });
  useDocumentTitle(t('title'));
  if (data === undefined)
    return (
      <div className="about">
        <QueryNotice loading={loading} error={error} refetch={refetch} />
      </div>
    );
  const own = data.status.about.trim();
  return <div className="about">{own === '' ? <OwnWords /> : <OperatorPage content={own} label={t('title')} />}</div>;
}

function OwnWords() {
  const t = useText(aboutTexts);
  const { systemName, version } = useStatus();
  const root = isRoot(useViewer());
  return (
    <div className="about-words">
      <h1 className="page-title">{t('heading', { name: systemName })}</h1>
      <p>{t('what')}</p>
      <p>{t('proof')}</p>
      <p className="about-note">{t('version', { version })}</p>
      {root && (
        <p className="about-note">
          <Link to="/setting?tab=other">{t('root')}</Link>
        </p>
      )}
    </div>
  );
}
