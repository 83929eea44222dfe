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

/*
 * The pictures of the documentation, taken of the demo: npx tsx tests/browser/screenshots.ts [directory]
 */

const password = 'password-of-the-demo';
const root: Account = { username: 'root', password };
const alice: Account = { username: 'alice', password };
const laptop = { width: 1280, height: 800 };
const phone = { width: 600, height: 900 };
/** Traffic before the first picture: charts need something to show. */
const trafficMs = Number(process.env.TRAFFIC_MS ?? 90_000);

interface Shot extends Pick<ConsoleOptions, 'language' | 'theme' | 'size'> {
  readonly name: string;
  readonly path: string;
  /** Left out: nobody is signed in. */
  readonly as?: Account;
  readonly prepare?: (page: Page) => Promise<unknown>;
}

const expandFirst = async (page: Page): Promise<void> => {
  await page
    .locator('button[aria-expanded="false"]', { hasNot: page.locator('[class*=menu]') })
    .nth(2)
    .click();
};

const shots: readonly Shot[] = [
  { name: 'home-light-en', path: '/' },
  { name: 'home-dark-zh', path: '/', theme: 'dark', language: 'zh' },
  { name: 'login-light-en', path: '/login' },
  { name: 'login-dark-zh', path: '/login?expired=true', theme: 'dark', language: 'zh' },
  { name: 'register-light-en', path: '/register' },
  { name: 'dashboard-dark-en', path: '/detail', as: root, theme: 'dark' },
  { name: 'dashboard-light-zh', path: '/detail', as: root, language: 'zh' },
  { name: 'dashboard-user-light-en', path: '/detail', as: alice },
  { name: 'channels-light-en', path: '/channel', as: root },
  { name: 'channels-dark-zh', path: '/channel', as: root, theme: 'dark', language: 'zh' },
  { name: 'channel-new-light-en', path: '/channel?open=new', as: root },
  { name: 'channel-test-light-en', path: '/channel?open=test-1', as: root },
  { name: 'tokens-light-en', path: '/token', as: alice },
  { name: 'token-new-dark-en', path: '/token?open=new', as: alice, theme: 'dark' },
  { name: 'tokens-all-light-zh', path: '/token?everyone=true', as: root, language: 'zh' },
  { name: 'log-light-en', path: '/log', as: root },
  { name: 'log-open-light-en', path: '/log', as: root, prepare: expandFirst },
  { name: 'log-dark-zh', path: '/log', as: alice, theme: 'dark', language: 'zh' },
  { name: 'users-light-en', path: '/user', as: root },
  { name: 'user-quota-light-en', path: '/user?open=quota-2', as: root },
  { name: 'phone-dashboard-dark-en', path: '/detail', as: root, theme: 'dark', size: phone },
  { name: 'phone-log-light-en', path: '/log', as: root, size: phone },
  { name: 'phone-channels-light-zh', path: '/channel', as: root, language: 'zh', size: phone },
  { name: 'phone-token-new-light-en', path: '/token?open=new', as: alice, size: phone },
  { name: 'phone-users-light-en', path: '/user', as: root, size: phone },
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
  const provider = await startSimulatedProvider({ behaviour: { firstByteDelayMs: 180, chunkDelayMs: 20 } });
  const config = readConfig({
    PORT: '0',
    DATA_DIR: dataDir,
    GLOBAL_WEB_RATE_LIMIT_ENABLE: 'false',
    CRITICAL_RATE_LIMIT_ENABLE: 'false',
  });
  const gateway = await startGateway(config, log);
  const { application } = gateway;
  const { apiKeys } = await seedDemo(application, { providerUrl: provider.url, rootPassword: password });
  const { user } = await application.identity.login(root.username, password);
  const actor = { id: user.id, role: user.role };
  const { items } = await application.queries.users(actor, { page: 1, size: 10 }, { keyword: alice.username });
  const unchanged = { username: null, displayName: null, group: null, quota: null, role: null };
  for (const { id } of items) await application.users.edit(actor, id as UserId, { ...unchanged, password });
  const traffic = startTraffic({ url: gateway.url, apiKeys, log });
  await new Promise((resolve) => setTimeout(resolve, trafficMs));
  const wanted = process.argv.slice(3);
  for (const shot of shots.filter(({ name }) => wanted.length === 0 || wanted.includes(name)))
    await take(browser, gateway.url, directory, shot);
  await traffic.stop();
  await gateway.stop();
  await provider.stop();
  await browser.close();
}
rmSync(dataDir, { recursive: true, force: true });
