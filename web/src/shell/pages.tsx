import {
  BankAccount,
  Cog,
  Dollar,
  Exchange,
  GiftBox,
  History,
  Key,
  LabTest,
  Media,
  People,
  SearchText,
  Settings,
  TimelineLineChart,
  Video,
} from '@blueprintjs/icons';
import type { JSX } from 'react';
import { isAdmin, isRoot, readsAll, type Viewer } from '../kit/SessionProvider.js';

/* The pages of the console, and who has which. The server decides what is answered there. */

export interface Page {
  readonly path: string;
  readonly name:
    | 'playground'
    | 'dashboard'
    | 'tokens'
    | 'log'
    | 'drawing'
    | 'tasks'
    | 'wallet'
    | 'personal'
    | 'channels'
    | 'redemption'
    | 'orders'
    | 'users'
    | 'audit'
    | 'settings';
  readonly icon: JSX.Element;
}

export interface PageGroup {
  readonly name: 'console' | 'admin';
  readonly pages: readonly Page[];
}

export const playground: Page = { path: '/playground', name: 'playground', icon: <LabTest /> };
const dashboard: Page = { path: '/detail', name: 'dashboard', icon: <TimelineLineChart /> };
const tokens: Page = { path: '/token', name: 'tokens', icon: <Key /> };
const log: Page = { path: '/log', name: 'log', icon: <History /> };
const drawing: Page = { path: '/midjourney', name: 'drawing', icon: <Media /> };
const tasks: Page = { path: '/task', name: 'tasks', icon: <Video /> };
const accountPages: readonly Page[] = [
  { path: '/topup', name: 'wallet', icon: <BankAccount /> },
  { path: '/personal', name: 'personal', icon: <Cog /> },
];
const adminPages: readonly Page[] = [
  { path: '/channel', name: 'channels', icon: <Exchange /> },
  { path: '/redemption', name: 'redemption', icon: <GiftBox /> },
  { path: '/orders', name: 'orders', icon: <Dollar /> },
  { path: '/user', name: 'users', icon: <People /> },
];
const audit: Page = { path: '/audit', name: 'audit', icon: <SearchText /> };
const settings: Page = { path: '/setting', name: 'settings', icon: <Settings /> };

/** Pages that are there as the operator has it. */
interface ShownPages {
  readonly dashboard: boolean;
  readonly drawing: boolean;
  readonly tasks: boolean;
}

export function pageGroups(viewer: Viewer | null, status: ShownPages): readonly PageGroup[] {
  const pages = [
    ...(status.dashboard ? [dashboard] : []),
    tokens,
    log,
    ...(status.drawing ? [drawing] : []),
    ...(status.tasks ? [tasks] : []),
    ...accountPages,
  ];
  const own: PageGroup = { name: 'console', pages };
  if (!readsAll(viewer)) return [own];
  const more = isAdmin(viewer) ? [...adminPages, audit] : [audit];
  return [own, { name: 'admin', pages: isRoot(viewer) ? [...more, settings] : more }];
}
