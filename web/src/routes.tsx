import type { ComponentType } from 'react';
import { createBrowserRouter, type RouteObject } from 'react-router-dom';
import { ForAdministrators, ForViewers } from './shell/guards.js';
import { Layout } from './shell/Layout.js';
import { PageFailed } from './shell/PageFailed.js';

/*
 * Every page is a chunk of its own, fetched when it is first opened. A page module exports its component by name:
 * `export function ChannelsPage()`.
 */

/** Pages arrive folder by folder; those that are not there yet have no route. */
const pages = import.meta.glob<Readonly<Record<string, ComponentType>>>([
  './dashboard/DashboardPage.tsx',
  './tokens/TokensPage.tsx',
  './log/UsageLogPage.tsx',
  './channels/ChannelsPage.tsx',
  './users/UsersPage.tsx',
]);

function page(path: string, file: string, name: string): RouteObject[] {
  const load = pages[`./${file}`];
  if (load === undefined) return [];
  const lazy = async (): Promise<{ Component: ComponentType }> => {
    const Component = (await load())[name];
    if (Component === undefined) throw new Error(`${file} exports no ${name}`);
    return { Component };
  };
  return [{ path, lazy }];
}

const routes: RouteObject[] = [
  {
    element: <Layout />,
    errorElement: <PageFailed />,
    children: [
      {
        errorElement: <PageFailed />,
        children: [
          { index: true, lazy: async () => ({ Component: (await import('./home/HomePage.js')).HomePage }) },
          { path: 'setup', lazy: async () => ({ Component: (await import('./setup/SetupPage.js')).SetupPage }) },
          { path: 'login', lazy: async () => ({ Component: (await import('./account/LoginPage.js')).LoginPage }) },
          {
            path: 'register',
            lazy: async () => ({ Component: (await import('./account/RegisterPage.js')).RegisterPage }),
          },
          { path: 'reset', lazy: async () => ({ Component: (await import('./account/ResetPage.js')).ResetPage }) },
          {
            element: <ForViewers />,
            children: [
              ...page('detail', 'dashboard/DashboardPage.tsx', 'DashboardPage'),
              ...page('token', 'tokens/TokensPage.tsx', 'TokensPage'),
              ...page('log', 'log/UsageLogPage.tsx', 'UsageLogPage'),
            ],
          },
          {
            element: <ForAdministrators />,
            children: [
              ...page('channel', 'channels/ChannelsPage.tsx', 'ChannelsPage'),
              ...page('user', 'users/UsersPage.tsx', 'UsersPage'),
            ],
          },
          {
            path: '*',
            lazy: async () => ({ Component: (await import('./not-found/NotFoundPage.js')).NotFoundPage }),
          },
        ],
      },
    ],
  },
];

export const consoleRouter = () => createBrowserRouter(routes);
