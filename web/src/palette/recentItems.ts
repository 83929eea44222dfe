import type { Viewer } from '../kit/SessionProvider.js';
import { maxRecent, type PaletteItem } from './paletteItems.js';

/*
 * Where somebody has gone by the palette, for as long as the tab is open and the role the same: names of users and
 * channels are nothing to be found in this browser later, nor by whoever signs in next.
 */

const keyFor = ({ id, role }: Viewer): string => `palette-recent-${id}-${role}`;

const isItem = (value: unknown): value is PaletteItem =>
  typeof value === 'object' &&
  value !== null &&
  'kind' in value &&
  ['page', 'channel', 'user', 'key'].includes(String(value.kind)) &&
  'name' in value &&
  typeof value.name === 'string' &&
  'path' in value &&
  typeof value.path === 'string' &&
  value.path.startsWith('/');

export function recallRecent(viewer: Viewer): readonly PaletteItem[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(keyFor(viewer)) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isItem).slice(0, maxRecent) : [];
  } catch {
    return [];
  }
}

export function rememberRecent(viewer: Viewer, items: readonly PaletteItem[]): void {
  try {
    sessionStorage.setItem(keyFor(viewer), JSON.stringify(items));
  } catch {
    // A browser that stores nothing offers pages first.
  }
}
