import { lazy, Suspense } from 'react';
import { Navigate, Outlet, useParams } from 'react-router-dom';
import { isAdmin, isRoot, readsAll, useViewer, type Viewer } from '../kit/SessionProvider.js';
import { ToLogin } from '../kit/ToLogin.js';
import { addressOf } from '../kit/table/openItem.js';

const NotFoundPage = lazy(async () => ({ default: (await import('../not-found/NotFoundPage.js')).NotFoundPage }));

/** What is behind it needs somebody signed in. */
export function ForViewers() {
  return useViewer() === null ? <ToLogin /> : <Outlet />;
}

/** What is behind it does not exist for others. The server refuses by itself; this only spares them a broken page. */
function For({ who }: { readonly who: (viewer: Viewer) => boolean }) {
  const viewer = useViewer();
  if (viewer === null) return <ToLogin />;
  if (who(viewer)) return <Outlet />;
  return (
    <Suspense>
      <NotFoundPage />
    </Suspense>
  );
}

export const ForAdministrators = () => <For who={isAdmin} />;
/** For administrators and auditors. */
export const ForReaders = () => <For who={readsAll} />;

/** An address that names one thing leads to the page with the drawer of it. */
export function OpensDrawer({ page }: { readonly page: string }) {
  const { id = '' } = useParams();
  return <Navigate to={addressOf(page, id)} replace />;
}

/** What is behind it is root's; others are led elsewhere. */
export function RootOr({ path }: { readonly path: string }) {
  return isRoot(useViewer()) ? <Outlet /> : <Navigate to={path} replace />;
}
