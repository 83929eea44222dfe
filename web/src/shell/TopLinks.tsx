import { NavLink } from 'react-router-dom';
import { useStatus, useViewer } from '../kit/SessionProvider.js';
import { useText } from '../kit/words/i18n.js';
import { shellTexts } from './shell.texts.js';

/** The pages for everybody: in the top bar, and on phones, where that has no room for them, in the menu. */
export function TopLinks({ onNavigate }: { readonly onNavigate?: () => void }) {
  const t = useText(shellTexts);
  const { setUp, docsLink } = useStatus();
  const viewer = useViewer();
  return (
    <nav className="top-links" aria-label={t('nav.top')}>
      {setUp && (
        <>
          <NavLink to="/" end className="top-link" onClick={onNavigate}>
            {t('nav.home')}
          </NavLink>
          {viewer !== null && (
            <NavLink to="/detail" className="top-link" onClick={onNavigate}>
              {t('nav.console')}
            </NavLink>
          )}
          <NavLink to="/pricing" className="top-link" onClick={onNavigate}>
            {t('nav.pricing')}
          </NavLink>
          <NavLink to="/about" className="top-link" onClick={onNavigate}>
            {t('nav.about')}
          </NavLink>
          {/^https?:/.test(docsLink) && (
            <a href={docsLink} target="_blank" rel="noopener noreferrer" className="top-link">
              {t('nav.docs')}
            </a>
          )}
        </>
      )}
    </nav>
  );
}
