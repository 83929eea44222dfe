import {
  BankAccount,
  Cog,
  Dollar,
  Exchange,
  GiftBox,
  History,
  Key,
  LabTest,
  People,
  Settings,
  TimelineLineChart,
} from '@blueprintjs/icons';
import type { JSX } from 'react';
import { NavLink } from 'react-router-dom';
import { isAdmin, isRoot, useStatus, useViewer } from '../kit/session.js';
import { useText } from '../kit/words/i18n.js';
import { ChatMenu } from './ChatMenu.js';
import { shellTexts } from './shell.texts.js';

type Name =
  | 'playground'
  | 'dashboard'
  | 'tokens'
  | 'log'
  | 'wallet'
  | 'personal'
  | 'channels'
  | 'redemption'
  | 'orders'
  | 'users'
  | 'settings';

interface Item {
  readonly path: string;
  readonly name: Name;
  readonly icon: JSX.Element;
}

const playground: Item = { path: '/playground', name: 'playground', icon: <LabTest /> };
const dashboard: Item = { path: '/detail', name: 'dashboard', icon: <TimelineLineChart /> };
const ownItems: readonly Item[] = [
  { path: '/token', name: 'tokens', icon: <Key /> },
  { path: '/log', name: 'log', icon: <History /> },
  { path: '/topup', name: 'wallet', icon: <BankAccount /> },
  { path: '/personal', name: 'personal', icon: <Cog /> },
];
const adminItems: readonly Item[] = [
  { path: '/channel', name: 'channels', icon: <Exchange /> },
  { path: '/redemption', name: 'redemption', icon: <GiftBox /> },
  { path: '/orders', name: 'orders', icon: <Dollar /> },
  { path: '/user', name: 'users', icon: <People /> },
];
const settings: Item = { path: '/setting', name: 'settings', icon: <Settings /> };

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
    ...(isAdmin(viewer)
      ? [{ name: 'admin', items: isRoot(viewer) ? [...adminItems, settings] : adminItems } as const]
      : []),
  ] as const;
  return (
    <nav className={`sidebar ${isOpen ? 'sidebar-open' : 'sidebar-closed'}`} aria-label={t('nav.console')}>
      <div className="sidebar-group">
        <ItemList items={[playground]} isOpen={isOpen} onNavigate={onNavigate} />
      </div>
      <ChatMenu isOpen={isOpen} onNavigate={onNavigate} />
      {groups.map(({ name, items }) => (
        <section key={name} className="sidebar-group">
          <h2 className="sidebar-heading">{t(`nav.${name}`)}</h2>
          <ItemList items={items} isOpen={isOpen} onNavigate={onNavigate} />
        </section>
      ))}
      <p className="sidebar-version">{t('version', { version })}</p>
    </nav>
  );
}

function ItemList({ items, isOpen, onNavigate }: SidebarProps & { readonly items: readonly Item[] }) {
  const t = useText(shellTexts);
  return (
    <ul>
      {items.map(({ path, name, icon }) => (
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
