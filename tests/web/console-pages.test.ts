import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { consolePages } from '../../src/bootstrap/console-files.js';

/* The server knows which paths are pages of the console, so that who takes anything gets them, too. */

const routes = readFileSync(new URL('../../web/src/routes.tsx', import.meta.url), 'utf8');

test('every route of the console is a page to the server, and no route of programs is', () => {
  const paths = [...routes.matchAll(/path: '([^']+)'/g)].map(([, path = '']) => path).filter((path) => path !== '*');
  expect(paths.length).toBeGreaterThan(20);
  expect(paths.filter((path) => !consolePages.test(`/${path}`))).toEqual([]);
  const others = [
    '/',
    '/api/status',
    '/v1/models',
    '/assets/x.js',
    '/tokens',
    '/favicon.ico',
    '/logo.svg',
    '/wp-login.php',
  ];
  expect(others.filter((path) => consolePages.test(path))).toEqual([]);
});
