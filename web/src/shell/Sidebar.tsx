import { Exchange, History, Key, People, TimelineLineChart } from '@blueprintjs/icons';
import type { JSX } from 'react';
import { NavLink } from 'react-router-dom';
import { isAdmin, useStatus, useViewer } from '../kit/session.js';
import { useText } from '../kit/words/i18n.js';
import { shellTexts } from './shell.texts.js';

type Name = 'dashboard' | 'tokens' | 'log' | 'channels' | 'users';

interface Item {
  readonly path: string;
  readonly name: Name;
  readonly icon: JSX.Element;
}

const dashboard: Item = { path: '/detail', name: 'dashboard', icon: <TimelineLineChart /> };
const ownItems: readonly Item[] = [
  { path: '/token', name: 'tokens', icon: <Key /> },
  { path: '/log', name: 'log', icon: <History /> },
];
const adminItems: readonly Item[] = [
  { path: '/channel', name: 'channels', icon: <Exchange /> },
  { path: '/user', name: 'users', icon: <People /> },
];

interface SidebarProps {
  readonly isOpen: boolean;
  readonly onNavigate: () => void;
}

/** The pages of the console, by role. Closed, it keeps its icons; on phones it is away altogether. */
export function Sidebar({ isOpen, onNavigate }: SidebarProps) {
  const t = useText(shellTexts);
  const viewer = useViewer();
  const { dashboard: hasDashboard, version } = useStatus();
  const groups = [
    { name: 'console', items: hasDashboard ? [dashboard, ...ownItems] : ownItems },
    ...(isAdmin(viewer) ? [{ name: 'admin', items: adminItems } as const] : []),
  ] as const;
  return (
    <nav className={`sidebar ${isOpen ? 'sidebar-open' : 'sidebar-closed'}`} aria-label={t('nav.console')}>
      {groups.map(({ name, items }) => (
        <section key={name} className="sidebar-group">
          <h2 className="sidebar-heading">{t(`nav.${name}`)}</h2>
          <ul>
            {items.map((item) => (
              <li key={item.path}>
                <NavLink
                  to={item.path}
                  className="sidebar-link"
                  title={isOpen ? undefined : t(`nav.${item.name}`)}
                  onClick={onNavigate}
                >
                  {item.icon}
                  <span className="sidebar-text">{t(`nav.${item.name}`)}</span>
                </NavLink>
              </li>
            ))}
          </ul>
        </section>
      ))}
      <p className="sidebar-version">{t('version', { version })}</p>
    </nav>
  );
}
