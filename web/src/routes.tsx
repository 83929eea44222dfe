import { Spinner } from '@blueprintjs/core';
import { createBrowserRouter, type RouteObject } from 'react-router-dom';
import { ForAdministrators, ForViewers } from './shell/guards.js';
import { Layout } from './shell/Layout.js';
import { PageFailed } from './shell/PageFailed.js';

/* Every page is a chunk of its own, fetched when it is first opened. */

const open: RouteObject[] = [
  { index: true, lazy: async () => ({ Component: (await import('./home/HomePage.js')).HomePage }) },
  { path: 'setup', lazy: async () => ({ Component: (await import('./setup/SetupPage.js')).SetupPage }) },
  { path: 'login', lazy: async () => ({ Component: (await import('./account/LoginPage.js')).LoginPage }) },
  { path: 'register', lazy: async () => ({ Component: (await import('./account/RegisterPage.js')).RegisterPage }) },
  { path: 'reset', lazy: async () => ({ Component: (await import('./account/ResetPage.js')).ResetPage }) },
];

const forViewers: RouteObject[] = [
  { path: 'detail', lazy: async () => ({ Component: (await import('./dashboard/DashboardPage.js')).DashboardPage }) },
  { path: 'token', lazy: async () => ({ Component: (await import('./tokens/TokensPage.js')).TokensPage }) },
  { path: 'log', lazy: async () => ({ Component: (await import('./log/UsageLogPage.js')).UsageLogPage }) },
];

const forAdministrators: RouteObject[] = [
  { path: 'channel', lazy: async () => ({ Component: (await import('./channels/ChannelsPage.js')).ChannelsPage }) },
  { path: 'user', lazy: async () => ({ Component: (await import('./users/UsersPage.js')).UsersPage }) },
];

const routes: RouteObject[] = [
  {
    element: <Layout />,
    errorElement: <PageFailed />,
    // While the code of the first page is on its way.
    hydrateFallbackElement: <Spinner className="whole-page" />,
    children: [
      {
        // A page that fails leaves bar and sidebar in place.
        errorElement: <PageFailed />,
        children: [
          ...open,
          { element: <ForViewers />, children: forViewers },
          { element: <ForAdministrators />, children: forAdministrators },
          { path: '*', lazy: async () => ({ Component: (await import('./not-found/NotFoundPage.js')).NotFoundPage }) },
        ],
      },
    ],
  },
];

export const consoleRouter = () => createBrowserRouter(routes);
