import { Classes } from '@blueprintjs/core';
import { NavLink, useLocation, useSearchParams } from 'react-router-dom';
import { readsAll, readsSettings, useSignedIn } from '../kit/SessionProvider.js';
import { useText } from '../kit/words/i18n.js';
import './audit.css';
import { auditTexts } from './audit.texts.js';

interface AuditPlace {
  readonly name: 'history' | 'replay' | 'whatIf' | 'repairs' | 'seals' | 'books' | 'administrators';
  readonly path: string;
  /** Of one account: from one such page to another, whose it is goes along. */
  readonly ofAccount: boolean;
}

const own: readonly AuditPlace[] = [
  { name: 'history', path: '/audit', ofAccount: true },
  { name: 'replay', path: '/audit/replay', ofAccount: true },
];
/** For who sees what is root's. */
const everything: readonly AuditPlace[] = [
  ...own,
  { name: 'whatIf', path: '/audit/what-if', ofAccount: false },
  { name: 'repairs', path: '/audit/repairs', ofAccount: false },
  { name: 'seals', path: '/audit/seals', ofAccount: false },
  { name: 'books', path: '/audit/books', ofAccount: false },
  { name: 'administrators', path: '/audit/administrators', ofAccount: false },
];

/** For who sees what is everybody's. */
const everybodys = everything.filter(({ name }) => name !== 'repairs');

/** From one page of the audit to the others. */
export function AuditPages() {
  const t = useText(auditTexts);
  const viewer = useSignedIn();
  const places = readsSettings(viewer) ? everything : readsAll(viewer) ? everybodys : own;
  const { pathname } = useLocation();
  const [search] = useSearchParams();
  const isOfAccount = own.some(({ path }) => path === pathname);
  const account = new URLSearchParams();
  for (const name of ['kind', 'id']) {
    const value = search.get(name);
    if (isOfAccount && value !== null) account.set(name, value);
  }
  return (
    <nav aria-label={t('pages')} className="audit-pages">
      {places.map(({ name, path, ofAccount }) => (
        <NavLink
          key={name}
          to={{ pathname: path, search: ofAccount ? account.toString() : '' }}
          end
          className={({ isActive }) =>
            [Classes.BUTTON, Classes.MINIMAL, isActive ? Classes.ACTIVE : ''].filter(Boolean).join(' ')
          }
        >
          {t(`page.${name}`)}
        </NavLink>
      ))}
    </nav>
  );
}
