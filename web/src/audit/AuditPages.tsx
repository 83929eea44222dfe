import { Classes } from '@blueprintjs/core';
import { NavLink } from 'react-router-dom';
import { readsAll, useSignedIn } from '../kit/SessionProvider.js';
import { useText } from '../kit/words/i18n.js';
import './audit.css';
import { auditTexts } from './audit.texts.js';

const addresses = { history: '/audit', seals: '/audit/seals' } as const;
const pages = ['history', 'seals'] as const satisfies readonly (keyof typeof addresses)[];

/** From one page of the audit to the others, for who may read them all. */
export function AuditPages() {
  const t = useText(auditTexts);
  if (!readsAll(useSignedIn())) return null;
  return (
    <nav aria-label={t('pages')} className="audit-pages">
      {pages.map((page) => (
        <NavLink
          key={page}
          to={addresses[page]}
          end
          className={({ isActive }) =>
            [Classes.BUTTON, Classes.MINIMAL, isActive ? Classes.ACTIVE : ''].filter(Boolean).join(' ')
          }
        >
          {t(`page.${page}`)}
        </NavLink>
      ))}
    </nav>
  );
}
