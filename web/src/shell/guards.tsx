import { lazy, Suspense } from 'react';
import { Navigate, Outlet } from 'react-router-dom';
import { isAdmin, useViewer } from '../kit/session.js';

const NotFoundPage = lazy(async () => ({ default: (await import('../not-found/NotFoundPage.js')).NotFoundPage }));

/** What is behind it needs somebody signed in. */
export function ForViewers() {
  return useViewer() === null ? <Navigate to="/login" replace /> : <Outlet />;
}

/** What is behind it does not exist for others. The server refuses by itself; this only spares them a broken page. */
export function ForAdministrators() {
  const viewer = useViewer();
  if (viewer === null) return <Navigate to="/login" replace />;
  if (isAdmin(viewer)) return <Outlet />;
  return (
    <Suspense>
      <NotFoundPage />
    </Suspense>
  );
}
