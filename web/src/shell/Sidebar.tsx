import { NavLink } from 'react-router-dom';
import { useStatus, useViewer } from '../kit/session.js';
import { useText } from '../kit/words/i18n.js';
import { ChatMenu } from './ChatMenu.js';
import { type Page, pageGroups, playground } from './pages.js';
import { shellTexts } from './shell.texts.js';

interface SidebarProps {
  readonly isOpen: boolean;
  readonly onNavigate: () => void;
}

/** The pages of the console, by role. Closed, it keeps its icons; on phones it is away altogether. */
export function Sidebar({ isOpen, onNavigate }: SidebarProps) {
  const t = useText(shellTexts);
  const viewer = useViewer();
  const { dashboard, version } = useStatus();
  return (
    <nav className={`sidebar ${isOpen ? 'sidebar-open' : 'sidebar-closed'}`} aria-label={t('nav.console')}>
      <div className="sidebar-group">
        <PageList pages={[playground]} isOpen={isOpen} onNavigate={onNavigate} />
      </div>
      <ChatMenu isOpen={isOpen} onNavigate={onNavigate} />
      {pageGroups(viewer, dashboard).map(({ name, pages }) => (
        <section key={name} className="sidebar-group">
          <h2 className="sidebar-heading">{t(`nav.${name}`)}</h2>
          <PageList pages={pages} isOpen={isOpen} onNavigate={onNavigate} />
        </section>
      ))}
      <p className="sidebar-version">{t('version', { version })}</p>
    </nav>
  );
}

function PageList({ pages, isOpen, onNavigate }: SidebarProps & { readonly pages: readonly Page[] }) {
  const t = useText(shellTexts);
  return (
    <ul>
      {pages.map(({ path, name, icon }) => (
        <li key={path}>
          <NavLink
            to={path}
            className="sidebar-link"
            title={isOpen ? undefined : t(`nav.${name}`)}
            onClick={onNavigate}
          >
            {icon}
            <span className="sidebar-text">{t(`nav.${name}`)}</span>
          </NavLink>
        </li>
      ))}
    </ul>
  );
}
