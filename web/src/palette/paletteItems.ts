import type { PaletteSearchQuery } from '../generated/palette/palette.js';
import { isRoot, type Viewer } from '../kit/SessionProvider.js';
import { addressOf } from '../kit/table/openItem.js';

/** Something that can be gone to: a page, or what a page shows of one thing. */
export interface PaletteItem {
  readonly kind: 'page' | 'channel' | 'user' | 'key';
  readonly name: string;
  /** Also its key. */
  readonly path: string;
}

/** Of each kind; who looks for another types more. */
const maxOfAKind = 5;
export const maxRecent = 8;

/** Users that the viewer may not open are shown where they stand in the list. */
const userPath = (viewer: Viewer, { id, username, role }: { id: string; username: string; role: string }): string =>
  isRoot(viewer) || role === 'ORDINARY'
    ? addressOf('/user', id)
    : `/user?${new URLSearchParams({ keyword: username })}`;

export function foundItems({ searchApiKeys, channels, users }: PaletteSearchQuery, viewer: Viewer): PaletteItem[] {
  return [
    ...(channels?.items ?? []).map(({ id, name }) => ({
      kind: 'channel' as const,
      name: name || id,
      path: addressOf('/channel', id),
    })),
    ...(users?.items ?? []).map((user) => ({
      kind: 'user' as const,
      name: ['', user.username].includes(user.displayName) ? user.username : `${user.username} (${user.displayName})`,
      path: userPath(viewer, user),
    })),
    ...searchApiKeys.slice(0, maxOfAKind).map(({ id, name }) => ({
      kind: 'key' as const,
      name: name || id,
      path: addressOf('/token', id),
    })),
  ];
}

/** What is offered for a text: what was gone to lately first, then pages, then what the server has found; each once. */
export function offered(
  text: string,
  {
    recent,
    pages,
    found,
  }: {
    readonly recent: readonly PaletteItem[];
    readonly pages: readonly PaletteItem[];
    readonly found: readonly PaletteItem[];
  },
): readonly PaletteItem[] {
  const wanted = text.trim().toLowerCase();
  const named = ({ name }: PaletteItem): boolean => name.toLowerCase().includes(wanted);
  const items = new Map<string, PaletteItem>();
  for (const item of [...recent.filter(named), ...pages.filter(named), ...found])
    if (!items.has(item.path)) items.set(item.path, item);
  return [...items.values()];
}

export const withRecent = (recent: readonly PaletteItem[], item: PaletteItem): readonly PaletteItem[] =>
  [item, ...recent.filter(({ path }) => path !== item.path)].slice(0, maxRecent);
