import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import type { Browser, Page } from 'playwright-core';
import { readConfig } from '../../src/config.js';
import { seedDemo } from '../../src/demo/seed.js';
import { startSimulatedProvider } from '../../src/demo/simulated-provider.js';
import { startTraffic } from '../../src/demo/traffic.js';
import type { UserId } from '../../src/domain/ids.js';
import { startGateway } from '../../src/gateway.js';
import { type Account, buildConsole, type ConsoleOptions, launchBrowser, openConsole } from '../support/browser.js';
import { signIn } from '../support/sign-in.js';

/*
 * The pictures of the documentation, taken of the demo: npx tsx tests/browser/screenshots.ts [directory]
 */

const password = 'password-of-the-demo';
const root: Account = { username: 'root', password };
const alice: Account = { username: 'alice', password };
const laptop = { width: 1280, height: 800 };
const phone = { width: 600, height: 900 };
/** The charts of the dashboard need something to show. */
const watchedMs = 240_000;

interface Shot extends Pick<ConsoleOptions, 'language' | 'theme' | 'size'> {
  readonly name: string;
  readonly path: string;
  /** Left out: nobody is signed in. */
  readonly as?: Account;
  readonly prepare?: (page: Page) => Promise<unknown>;
}

const watch = (page: Page): Promise<void> => page.waitForTimeout(watchedMs);

const expandSecond = (page: Page): Promise<void> =>
  page.getByRole('button', { name: 'Expand', exact: true }).nth(1).click();

const shots: readonly Shot[] = [
  { name: 'dashboard-dark-en', path: '/detail', as: root, theme: 'dark', prepare: watch },
  {
    name: 'dashboard-dark-zh-600',
    path: '/detail',
    as: root,
    theme: 'dark',
    language: 'zh',
    size: phone,
    prepare: watch,
  },
  { name: 'dashboard-user-light-zh', path: '/detail', as: alice, language: 'zh' },
  { name: 'home-light-en', path: '/' },
  { name: 'channels-light-en', path: '/channel', as: root },
  { name: 'channel-new-light-en', path: '/channel?open=new', as: root },
  { name: 'log-light-en', path: '/log', as: root, size: { width: 1280, height: 640 }, prepare: expandSecond },
  { name: 'log-dark-zh-600', path: '/log', as: root, theme: 'dark', language: 'zh', size: phone },
];

async function signedIn(page: Page, { username, password: secret }: Account): Promise<void> {
  await page.goto('/login');
  await page.locator('input[autocomplete="username"]').fill(username);
  await page.locator('input[autocomplete="current-password"]').fill(secret);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/token');
}

async function take(browser: Browser, url: string, directory: string, shot: Shot): Promise<void> {
  const { name, path, as, prepare, language, theme, size = laptop } = shot;
  const { page, problems, close } = await openConsole(browser, { url, language, theme, size });
  try {
    if (as !== undefined) await signedIn(page, as);
    await page.goto(path, { waitUntil: 'networkidle' });
    await prepare?.(page);
    // Figures that are pushed have come by then, and notices of the login have gone.
    await page.waitForTimeout(4_000);
    await page.screenshot({ path: join(directory, `${name}.png`) });
    for (const problem of problems) console.warn(`${name}: ${problem}`);
  } finally {
    await close();
  }
}

const directory = process.argv[2] ?? fileURLToPath(new URL('../../docs/images', import.meta.url));
mkdirSync(directory, { recursive: true });
const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-pictures-'));
const browser = await launchBrowser();
if (browser !== null) {
  buildConsole();
  const log = pino({ level: 'error' });
  const behaviour = { firstByteDelayMs: 180, chunkDelayMs: 20 };
  const provider = await startSimulatedProvider({ behaviour });
  // Down for every fourth call, so that there are retries to be seen.
  const down = { kind: 'refuse', status: 503 } as const;
  provider.script(
    'flaky',
    Array.from({ length: 2_000 }, (_, call) => (call % 4 === 0 ? down : behaviour)),
  );
  const config = readConfig({
    PORT: '0',
    DATA_DIR: dataDir,
    GLOBAL_WEB_RATE_LIMIT_ENABLE: 'false',
    CRITICAL_RATE_LIMIT_ENABLE: 'false',
  });
  const gateway = await startGateway(config, log);
  const { application } = gateway;
  const { apiKeys } = await seedDemo(application, { providerUrl: provider.url, rootPassword: password });
  const { user } = await signIn(application.identity, root.username, password);
  const actor = { id: user.id, role: user.role };
  const { items } = await application.queries.users(actor, { page: 1, size: 10 }, { keyword: alice.username });
  const unchanged = { username: null, displayName: null, group: null, quota: null, role: null };
  for (const { id } of items) await application.users.edit(actor, id as UserId, { ...unchanged, password });
  const traffic = startTraffic({ url: gateway.url, apiKeys, log });
  const watched = shots.filter(({ prepare }) => prepare === watch);
  await Promise.all(watched.map((shot) => take(browser, gateway.url, directory, shot)));
  for (const shot of shots) if (!watched.includes(shot)) await take(browser, gateway.url, directory, shot);
  await traffic.stop();
  await gateway.stop();
  await provider.stop();
  await browser.close();
}
rmSync(dataDir, { recursive: true, force: true });
