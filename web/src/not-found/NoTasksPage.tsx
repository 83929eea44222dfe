import { NonIdealState } from '@blueprintjs/core';
import { Inbox } from '@blueprintjs/icons';
import { LinkButton } from '../kit/LinkButton.js';
import { useDocumentTitle } from '../kit/PageFrame.js';
import { useText } from '../kit/words/i18n.js';
import { notFoundTexts } from './notFound.texts.js';

interface NoTasksPageProps {
  readonly of: 'drawing' | 'tasks';
}

/** Where the legacy console lists tasks of a kind that this gateway does not relay: it says so, and where calls stand. */
export function NoTasksPage({ of }: NoTasksPageProps) {
  const t = useText(notFoundTexts);
  useDocumentTitle(t(`${of}.title`));
  return (
    <NonIdealState
      className="whole-page"
      icon={<Inbox size={40} />}
      description={
        <>
          <h1 className="page-title">{t(`${of}.title`)}</h1>
          {t(`${of}.none`)}
        </>
      }
      action={<LinkButton to="/log">{t('toLog')}</LinkButton>}
    />
  );
}
