import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const dist = join(root, 'web/dist');

interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
}

type Manifest = Readonly<Record<string, Chunk>>;

let manifest: Manifest;

beforeAll(() => {
  const { status, stderr } = spawnSync(process.execPath, [
    '--input-type=module',
    '-e',
    `import { buildWebIfNeeded } from ${JSON.stringify(join(root, 'scripts/build.mjs'))}; buildWebIfNeeded();`,
  ]);
  if (status !== 0) throw new Error(String(stderr));
  manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8'));
});

const chunk = (name: string): Chunk => {
  const found = manifest[name];
  if (found === undefined) throw new Error(`there is no chunk ${name}`);
  return found;
};

/** The chunks and all they import before they run. */
function needed(...names: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const walk = (name: string): void => {
    if (found.has(name)) return;
    found.add(name);
    for (const next of chunk(name).imports ?? []) walk(next);
  };
  for (const name of names) walk(name);
  return found;
}

const content = (name: string): string => readFileSync(join(dist, chunk(name).file), 'utf8');
const gzipped = (names: ReadonlySet<string>): number =>
  [...names].reduce((sum, name) => sum + gzipSync(content(name), { level: 9 }).length, 0);

/** As they go to whoever takes Brotli, which every browser of the last years does; the smallest go as they are. */
const sent = (names: ReadonlySet<string>): number =>
  [...names].reduce((sum, name) => {
    const file = join(dist, chunk(name).file);
    return sum + statSync(existsSync(`${file}.br`) ? `${file}.br` : file).size;
  }, 0);

const loginPage = 'src/account/LoginPage.tsx';
const dashboard = 'src/dashboard/DashboardPage.tsx';
/** What whoever is signed in has around every page. */
const around = ['src/shell/Sidebar.tsx', 'src/shell/PaletteButton.tsx'];

const pages = (): readonly string[] =>
  Object.keys(manifest).filter((name) => /Pages?\.tsx$/.test(name) && !/ProductPage/.test(name));

describe('the built console', () => {
  test('shows the login with at most 250 kB of compressed JavaScript', () => {
    expect(gzipped(needed('index.html', loginPage))).toBeLessThanOrEqual(250_000);
  });
  test('shows the playground with at most 260 kB, and fetches its settings and renderers separately', () => {
    const first = needed('index.html', 'src/playground/PlaygroundPage.tsx');
    expect(gzipped(first)).toBeLessThanOrEqual(260_000);
    expect([...first].map(content).join('')).not.toMatch(/DOMPurify/i);
  });
  test('shows every page with at most 262 kB including its frame, the dashboard with its charts with 350', () => {
    const large = pages().filter((name) => sent(needed('index.html', ...around, name)) > 262_000);
    expect(large).toEqual([]);
    const charts = (chunk(dashboard).dynamicImports ?? []).filter((name) => /Chart\.tsx$/.test(name));
    expect(charts.length).toBeGreaterThan(2);
    expect(sent(needed('index.html', ...around, dashboard, ...charts))).toBeLessThanOrEqual(350_000);
  });
  test('has every page in a chunk of its own', () => {
    expect(pages()).toContain(loginPage);
    const first = needed('index.html');
    expect(pages().filter((name) => first.has(name))).toEqual([]);
    expect(new Set(pages().map((name) => chunk(name).file)).size).toBe(pages().length);
  });
  test('loads neither charts nor the renderer of operators’ texts with the login', () => {
    const code = [...needed('index.html', loginPage)].map(content).join('');
    expect(code).not.toMatch(/recharts/);
    expect(code).not.toMatch(/DOMPurify/i);
  });
  test('contains no table of all icons', () => {
    const largest = Math.max(...readdirSync(join(dist, 'assets')).map((name) => (/paths/i.test(name) ? 1 : 0)));
    expect(largest).toBe(0);
  });
  test('needs no inline script', () => {
    const page = readFileSync(join(dist, 'index.html'), 'utf8');
    const scripts = [...page.matchAll(/<script\b([^>]*)>([\s\S]*?)<\/script>/g)];
    expect(scripts.length).toBeGreaterThan(0);
    expect(
      scripts.filter(([, attributes = '', body = '']) => !/\bsrc=/.test(attributes) || body.trim() !== ''),
    ).toEqual([]);
    expect(page).not.toMatch(/\son\w+=/);
  });
});
