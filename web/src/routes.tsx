import { createBrowserRouter, Navigate, type RouteObject } from 'react-router-dom';
import { SkeletonPage } from './kit/Skeleton.js';
import { addressOf } from './kit/table/openItem.js';
import { ForAdministrators, ForReaders, ForViewers, OpensDrawer, RootOr } from './shell/Guards.js';
import { Layout } from './shell/Layout.js';
import { PageFailed } from './shell/PageFailed.js';

/* Every page is a chunk of its own, fetched when it is first opened. */

const open: RouteObject[] = [
  { index: true, lazy: async () => ({ Component: (await import('./home/HomePage.js')).HomePage }) },
  { path: 'setup', lazy: async () => ({ Component: (await import('./setup/SetupPage.js')).SetupPage }) },
  { path: 'about', lazy: async () => ({ Component: (await import('./about/AboutPage.js')).AboutPage }) },
  { path: 'chat/:place?', lazy: async () => ({ Component: (await import('./chat/ChatPage.js')).ChatPage }) },
  { path: 'pricing', lazy: async () => ({ Component: (await import('./pricing/PricingPage.js')).PricingPage }) },
  { path: 'login', lazy: async () => ({ Component: (await import('./account/LoginPage.js')).LoginPage }) },
  { path: 'register', lazy: async () => ({ Component: (await import('./account/RegisterPage.js')).RegisterPage }) },
  {
    path: 'user/reset',
    lazy: async () => ({ Component: (await import('./account/NewPasswordPage.js')).NewPasswordPage }),
  },
  { path: 'reset', lazy: async () => ({ Component: (await import('./account/ResetPage.js')).ResetPage }) },
  {
    path: 'oauth/:provider',
    lazy: async () => ({ Component: (await import('./account/VisitEndPage.js')).VisitEndPage }),
  },
];

const forViewers: RouteObject[] = [
  {
    // Telegram's widget is led back to here as well: everybody but root has the own settings in mind.
    path: 'setting',
    element: <RootOr path="/personal" />,
    children: [
      { index: true, lazy: async () => ({ Component: (await import('./settings/SettingsPage.js')).SettingsPage }) },
    ],
  },
  { path: 'chat2link', lazy: async () => ({ Component: (await import('./chat/ChatPage.js')).ChatRedirectPage }) },
  { path: 'user/edit', element: <Navigate to="/personal" replace /> },
  { path: 'detail', lazy: async () => ({ Component: (await import('./dashboard/DashboardPage.js')).DashboardPage }) },
  {
    path: 'playground',
    lazy: async () => ({ Component: (await import('./playground/PlaygroundPage.js')).PlaygroundPage }),
  },
  { path: 'token', lazy: async () => ({ Component: (await import('./tokens/TokensPage.js')).TokensPage }) },
  { path: 'personal', lazy: async () => ({ Component: (await import('./personal/PersonalPage.js')).PersonalPage }) },
  { path: 'topup', lazy: async () => ({ Component: (await import('./wallet/WalletPage.js')).WalletPage }) },
  { path: 'midjourney', lazy: async () => ({ Component: (await import('./tasks/TaskPages.js')).DrawingLogPage }) },
  { path: 'task', lazy: async () => ({ Component: (await import('./tasks/TaskPages.js')).TaskLogPage }) },
  { path: 'audit', lazy: async () => ({ Component: (await import('./audit/AuditPage.js')).AuditPage }) },
  {
    path: 'audit/administrators',
    lazy: async () => ({
      Component: (await import('./audit/administrators/AdministratorsPage.js')).AdministratorsPage,
    }),
  },
  { path: 'audit/replay', lazy: async () => ({ Component: (await import('./audit/ReplayPage.js')).ReplayPage }) },
  { path: 'log', lazy: async () => ({ Component: (await import('./log/UsageLogPage.js')).UsageLogPage }) },
  { path: 'log/:requestId', lazy: async () => ({ Component: (await import('./log/CallPage.js')).CallPage }) },
  {
    path: 'log/:requestId/receipt',
    lazy: async () => ({ Component: (await import('./log/ReceiptPage.js')).ReceiptPage }),
  },
];

const forAdministrators: RouteObject[] = [
  { path: 'channel', lazy: async () => ({ Component: (await import('./channels/ChannelsPage.js')).ChannelsPage }) },
  {
    path: 'redemption',
    lazy: async () => ({ Component: (await import('./redemption/RedemptionPage.js')).RedemptionPage }),
  },
  { path: 'orders', lazy: async () => ({ Component: (await import('./orders/OrdersPage.js')).OrdersPage }) },
  { path: 'channel/:id', lazy: async () => ({ Component: (await import('./channels/ChannelPage.js')).ChannelPage }) },
  // Where the legacy console has pages of their own, here are drawers.
  { path: 'channel/add', element: <Navigate to={addressOf('/channel', 'new')} replace /> },
  { path: 'channel/edit/:id', element: <OpensDrawer page="/channel" /> },
  { path: 'user/edit/:id', element: <OpensDrawer page="/user" /> },
  { path: 'user', lazy: async () => ({ Component: (await import('./users/UsersPage.js')).UsersPage }) },
];

const forReaders: RouteObject[] = [
  { path: 'audit/books', lazy: async () => ({ Component: (await import('./audit/BooksPage.js')).BooksPage }) },
  {
    path: 'audit/what-if',
    lazy: async () => ({ Component: (await import('./audit/what-if/WhatIfPage.js')).WhatIfPage }),
  },
  {
    path: 'audit/repairs',
    lazy: async () => ({ Component: (await import('./audit/repairs/RepairsPage.js')).RepairsPage }),
  },
  { path: 'audit/seals', lazy: async () => ({ Component: (await import('./audit/SealsPage.js')).SealsPage }) },
];

const routes: RouteObject[] = [
  {
    element: <Layout />,
    errorElement: <PageFailed />,
    // While the code of the first page is on its way.
    hydrateFallbackElement: <SkeletonPage />,
    children: [
      {
        // A page that fails leaves bar and sidebar in place.
        errorElement: <PageFailed />,
        children: [
          ...open,
          { element: <ForViewers />, children: forViewers },
          { element: <ForReaders />, children: forReaders },
          { element: <ForAdministrators />, children: forAdministrators },
          { path: '*', lazy: async () => ({ Component: (await import('./not-found/NotFoundPage.js')).NotFoundPage }) },
        ],
      },
    ],
  },
];

export const consoleRouter = () => createBrowserRouter(routes);
