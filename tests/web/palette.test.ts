import { describe, expect, test } from 'vitest';
import type { Viewer } from '../../web/src/kit/SessionProvider.js';
import { foundItems, maxRecent, offered, type PaletteItem, withRecent } from '../../web/src/palette/paletteItems.js';

const page = (name: string): PaletteItem => ({ kind: 'page', name, path: `/${name.toLowerCase()}` });
const viewer = (role: Viewer['role']): Viewer => ({
  id: '1',
  username: 'somebody',
  displayName: '',
  email: '',
  role,
  group: 'default',
  createdAt: 0,
});

describe('the offers of the palette', () => {
  const pages = [page('Tokens'), page('Log'), page('Users')];

  test('are recent pages without a text, then every page, each once', () => {
    const names = offered('  ', { recent: [page('Users')], pages, found: [] }).map(({ name }) => name);
    expect(names).toEqual(['Users', 'Tokens', 'Log']);
  });
  test('are names that match a text in any letter case, then results of the server', () => {
    const found: PaletteItem[] = [{ kind: 'user', name: 'olga', path: '/user?open=7' }];
    const names = offered('LOG', { recent: [page('Users')], pages, found }).map(({ name }) => name);
    expect(names).toEqual(['Log', 'olga']);
  });
  test('include the most recent ones, the newest first', () => {
    let recent: readonly PaletteItem[] = [];
    for (let place = 0; place <= maxRecent; place++) recent = withRecent(recent, page(`P${place}`));
    recent = withRecent(recent, page('P3'));
    expect(recent).toHaveLength(maxRecent);
    expect(recent.slice(0, 2).map(({ name }) => name)).toEqual(['P3', `P${maxRecent}`]);
  });
});

describe('the results of the server in the palette', () => {
  const answer = {
    searchApiKeys: Array.from({ length: 100 }, (_, id) => ({ id: String(id), name: `key ${id}` })),
    channels: { items: [{ id: '3', name: 'east' }] },
    users: {
      items: [
        { id: '7', username: 'olga', displayName: 'Olga', role: 'ORDINARY' as const },
        { id: '8', username: 'other & admin', displayName: '', role: 'ADMIN' as const },
      ],
    },
  };

  test('are a few of each kind', () => {
    const kinds = foundItems(answer, viewer('ROOT')).map(({ kind }) => kind);
    expect(kinds).toEqual(['channel', 'user', 'user', 'key', 'key', 'key', 'key', 'key']);
  });
  test('open their page, or the list for a viewer without access', () => {
    const paths = (role: Viewer['role']) =>
      foundItems(answer, viewer(role)).flatMap(({ kind, path }) => (kind === 'user' ? [path] : []));
    expect(paths('ADMIN')).toEqual(['/user?open=7', '/user?keyword=other+%26+admin']);
    expect(paths('ROOT')).toEqual(['/user?open=7', '/user?open=8']);
  });
});
