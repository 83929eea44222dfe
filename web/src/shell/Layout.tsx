import { lazy, Suspense, useEffect, useState } from 'react';
import { Navigate, Outlet, useLocation, useNavigation } from 'react-router-dom';
import { useNarrow, useTight } from '../kit/narrow.js';
import { useRemembered } from '../kit/remembered.js';
import { isAdmin, isRoot, useStatus, useViewer } from '../kit/SessionProvider.js';
import { SkeletonPage } from '../kit/Skeleton.js';
import { useText } from '../kit/words/i18n.js';
import { Footer } from './Footer.js';
import { shellTexts } from './shell.texts.js';
import { TopBar } from './TopBar.js';
import { useReturnedFocus } from './useReturnedFocus.js';

const setupPath = '/setup';
const withoutSidebar: ReadonlySet<string> = new Set(['/', setupPath, '/login', '/register', '/reset', '/chat2link']);
const isChat = (path: string): boolean => /^\/chat(\/|$)/.test(path);

// Who is not signed in has no menu, and need not wait for one.
const Sidebar = lazy(async () => ({ default: (await import('./Sidebar.js')).Sidebar }));
const SecondFactorDemanded = lazy(async () => ({
  default: (await import('./SecondFactorDemanded.js')).SecondFactorDemanded,
}));
const StoppedReadModels = lazy(async () => ({
  default: (await import('./StoppedReadModels.js')).StoppedReadModels,
}));

const DoubtedProxies = lazy(async () => ({ default: (await import('./DoubtedProxies.js')).DoubtedProxies }));

/** What surrounds every page. Until the gateway is set up, there is no page but that one. */
export function Layout() {
  const t = useText(shellTexts);
  const { pathname } = useLocation();
  const { state } = useNavigation();
  const { setUp } = useStatus();
  const viewer = useViewer();
  const hasSidebar = viewer !== null && setUp && !withoutSidebar.has(pathname) && !isChat(pathname);
  const narrow = useNarrow();
  const hasMenu = hasSidebar || (narrow && setUp);
  const sidebar = useSidebar();
  useReturnedFocus();

  if (!setUp && pathname !== setupPath) return <Navigate to={setupPath} replace />;
  if (setUp && pathname === setupPath) return <Navigate to="/" replace />;
  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        {t('skip')}
      </a>
      <TopBar onMenu={hasMenu ? sidebar.toggle : undefined} isMenuOpen={sidebar.isOpen} />
      <div className="shell-body">
        {(hasSidebar || (hasMenu && sidebar.isOverlaid)) && (
          <Suspense fallback={<div className={`sidebar ${sidebar.isOpen ? 'sidebar-open' : 'sidebar-closed'}`} />}>
            <Sidebar isOpen={sidebar.isOpen} onNavigate={sidebar.fold} hasTopLinks={narrow} />
          </Suspense>
        )}
        {hasMenu && sidebar.isOverlaid && (
          <button type="button" className="sidebar-backdrop" aria-label={t('nav.collapse')} onClick={sidebar.fold} />
        )}
        <div className="shell-content">
          <main id="main" tabIndex={-1} aria-busy={state !== 'idle'} className={state === 'idle' ? '' : 'page-loading'}>
            {hasSidebar && isAdmin(viewer) && (
              <Suspense>
                <SecondFactorDemanded />
                <StoppedReadModels />
                {isRoot(viewer) && <DoubtedProxies />}
              </Suspense>
            )}
            <Suspense fallback={<SkeletonPage />}>
              <Outlet />
            </Suspense>
          </main>
          <Footer />
        </div>
      </div>
    </div>
  );
}

const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';

/** Where the page needs the room, the sidebar lies over it and closes with every step; elsewhere it stays as it was left. */
function useSidebar() {
  const { collapseSidebar } = useStatus();
  const tight = useTight();
  const { pathname } = useLocation();
  const [collapsed, setCollapsed] = useRemembered('sidebar-collapsed', collapseSidebar, isFlag);
  const [overlaid, setOverlaid] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the step to another page is what closes it
  useEffect(() => setOverlaid(false), [pathname]);
  const isOverlaid = tight && overlaid;
  useEffect(() => {
    if (!isOverlaid) return undefined;
    const foldByKey = ({ key }: KeyboardEvent): void => {
      if (key === 'Escape') setOverlaid(false);
    };
    document.addEventListener('keydown', foldByKey);
    return () => document.removeEventListener('keydown', foldByKey);
  }, [isOverlaid]);
  return {
    isOpen: tight ? overlaid : !collapsed,
    isOverlaid,
    toggle: () => (tight ? setOverlaid(!overlaid) : setCollapsed(!collapsed)),
    fold: () => setOverlaid(false),
  };
}
