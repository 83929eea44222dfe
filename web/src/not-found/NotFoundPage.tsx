import { NonIdealState } from '@blueprintjs/core';
import { PathSearch } from '@blueprintjs/icons';
import { LinkButton } from '../kit/LinkButton.js';
import { useDocumentTitle } from '../kit/PageFrame.js';
import { useText } from '../kit/words/i18n.js';
import { notFoundTexts } from './notFound.texts.js';

export function NotFoundPage() {
  const t = useText(notFoundTexts);
  useDocumentTitle(t('title'));
  return (
    <NonIdealState
      className="whole-page"
      icon={<PathSearch size={40} />}
      description={
        <>
          <h1 className="page-title">{t('title')}</h1>
          {t('hint')}
        </>
      }
      action={<LinkButton to="/">{t('home')}</LinkButton>}
    />
  );
}
