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
import { isAdmin, isRoot, type Viewer } from '../kit/SessionProvider.js';

/* The pages of the console, and who has which. The server decides what is answered there. */

export interface Page {
  readonly path: string;
  readonly name:
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
  readonly icon: JSX.Element;
}

export interface PageGroup {
  readonly name: 'console' | 'admin';
  readonly pages: readonly Page[];
}

export const playground: Page = { path: '/playground', name: 'playground', icon: <LabTest /> };
const dashboard: Page = { path: '/detail', name: 'dashboard', icon: <TimelineLineChart /> };
const ownPages: readonly Page[] = [
  { path: '/token', name: 'tokens', icon: <Key /> },
  { path: '/log', name: 'log', icon: <History /> },
  { path: '/topup', name: 'wallet', icon: <BankAccount /> },
  { path: '/personal', name: 'personal', icon: <Cog /> },
];
const adminPages: readonly Page[] = [
  { path: '/channel', name: 'channels', icon: <Exchange /> },
  { path: '/redemption', name: 'redemption', icon: <GiftBox /> },
  { path: '/orders', name: 'orders', icon: <Dollar /> },
  { path: '/user', name: 'users', icon: <People /> },
];
const settings: Page = { path: '/setting', name: 'settings', icon: <Settings /> };

/** `hasDashboard`: as the operator has it. */
export function pageGroups(viewer: Viewer | null, hasDashboard: boolean): readonly PageGroup[] {
  const own: PageGroup = { name: 'console', pages: hasDashboard ? [dashboard, ...ownPages] : ownPages };
  if (!isAdmin(viewer)) return [own];
  return [own, { name: 'admin', pages: isRoot(viewer) ? [...adminPages, settings] : adminPages }];
}
