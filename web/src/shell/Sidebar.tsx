import { useId } from 'react';
import { NavLink } from 'react-router-dom';
import { useStatus, useViewer, type Viewer } from '../kit/SessionProvider.js';
import { useText } from '../kit/words/i18n.js';
import { ChatMenu } from './ChatMenu.js';
import { type Page, pageGroups, playground } from './pages.js';
import { shellTexts } from './shell.texts.js';
import { TopLinks } from './TopLinks.js';

interface MenuProps {
  readonly isOpen: boolean;
  readonly onNavigate: () => void;
}

interface SidebarProps extends MenuProps {
  /** On phones the pages for everybody are here, not in the top bar. */
  readonly hasTopLinks: boolean;
}

/** Where one can go. Closed, it keeps the icons of the console's pages; on phones it is away altogether. */
export function Sidebar({ isOpen, onNavigate, hasTopLinks }: SidebarProps) {
  const viewer = useViewer();
  return (
    <div className={`sidebar ${isOpen ? 'sidebar-open' : 'sidebar-closed'}`}>
      {hasTopLinks && <TopLinks onNavigate={onNavigate} />}
      {viewer !== null && <ConsolePages viewer={viewer} isOpen={isOpen} onNavigate={onNavigate} />}
    </div>
  );
}

/** The pages of the console, by role. */
function ConsolePages({ viewer, isOpen, onNavigate }: MenuProps & { readonly viewer: Viewer }) {
  const t = useText(shellTexts);
  const status = useStatus();
  return (
    <nav className="sidebar-pages" aria-label={t('nav.console')}>
      <PageList pages={[playground]} isOpen={isOpen} onNavigate={onNavigate} />
      <ChatMenu isOpen={isOpen} onNavigate={onNavigate} />
      {pageGroups(viewer, status).map(({ name, pages }) => (
        <PageList key={name} title={t(`nav.${name}`)} pages={pages} isOpen={isOpen} onNavigate={onNavigate} />
      ))}
      <p className="sidebar-version">{t('version', { version: status.version })}</p>
    </nav>
  );
}

interface PageListProps extends MenuProps {
  readonly title?: string;
  readonly pages: readonly Page[];
}

function PageList({ title, pages, isOpen, onNavigate }: PageListProps) {
  const t = useText(shellTexts);
  const heading = useId();
  return (
    <div className="sidebar-group">
      {/* No heading: those are the page's own, and begin with its title. */}
      {title !== undefined && (
        <p id={heading} className="sidebar-heading">
          {title}
        </p>
      )}
      <ul aria-labelledby={title === undefined ? undefined : heading}>
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
    </div>
  );
}
