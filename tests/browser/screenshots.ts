import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import type { Browser, Page } from 'playwright-core';
import { readConfig } from '../../src/config.js';
import { type Demo, startDemo } from '../../src/demo/start-demo.js';
import { streamKey } from '../../src/domain/events/events.js';
import {
  type Account,
  buildConsole,
  type ConsoleOptions,
  launchBrowser,
  openConsole,
} from '../support/gateway/browser.js';

/*
 * The pictures of the documentation, taken of the demo: npx tsx tests/browser/screenshots.ts [directory [name…]]
 */

const password = 'password-of-the-demo';
const root: Account = { username: 'root', password };
const alice: Account = { username: 'alice', password };
const laptop = { width: 1280, height: 800 };
const phone = { width: 600, height: 900 };
/** The live charts need something to show. */
const watchedMs = 100_000;

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

/** What is seen from the top of the window. */
const scrollTo = (heading: RegExp) => async (page: Page) =>
  page
    .getByRole('heading', { name: heading })
    .first()
    .evaluate((element) => element.scrollIntoView({ block: 'start' }));

const askTwice = async (page: Page): Promise<void> => {
  const message = page.getByLabel('Message', { exact: true });
  await message.fill('What is a ledger?');
  await message.press('Enter');
  await page.getByRole('link', { name: 'See the log' }).waitFor();
};

const openHistory = (page: Page): Promise<void> =>
  page.getByRole('button', { name: 'History: Retries' }).first().click();

/** The demo's server takes a while for the first ones. */
const untilSucceeded = (word: string) => (page: Page) =>
  page.getByRole('row').getByText(word, { exact: true }).nth(1).waitFor({ timeout: watchedMs });

/** What there is to be seen of the demo that has a number of its own. */
interface Scenes {
  /** Of a call that a second channel has answered. */
  readonly rescued: string;
  readonly flaky: number;
  /** An API key of alice. */
  readonly key: number;
}

async function scenes({ gateway: { application, store }, seeded }: Demo): Promise<Scenes> {
  let rescued = '';
  for (let limit = 3_000; rescued === '' && limit <= 48_000; limit *= 2)
    for (const { event, stream } of await store.readNewest(limit))
      if (event.type === 'CallSettled' && event.failedAttempts !== undefined && event.facts.stream)
        rescued = streamKey(stream);
  const flaky = application.directory.channels().find(({ settings }) => settings.name === 'flaky');
  const key = seeded.people.find(({ cast }) => cast.username === alice.username)?.keys[0];
  if (rescued === '' || flaky === undefined || key === undefined) throw new Error('the demo is not as it was');
  return { rescued, flaky: flaky.id, key: key.id };
}

const dark = { theme: 'dark', language: 'zh' } as const;

const shotsOf = ({ rescued, flaky, key }: Scenes): readonly Shot[] => [
  { name: 'dashboard-dark-en', path: '/detail', as: root, theme: 'dark', prepare: watch },
  { name: 'health-light-en', path: '/detail', as: root, prepare: scrollTo(/^Channel health/) },
  { name: 'history-light-en', path: '/detail?range=30d', as: root, prepare: scrollTo(/^History/) },
  {
    ...{ name: 'history-dark-zh-600', path: '/detail?range=30d', as: root, size: phone, ...dark },
    prepare: scrollTo(/^历史/),
  },
  { name: 'request-light-en', path: `/log/${rescued}`, as: root },
  { name: 'channel-light-en', path: `/channel/${flaky}?range=30d`, as: root },
  { name: 'channel-dark-zh', path: `/channel/${flaky}?range=30d`, as: root, ...dark },
  { name: 'option-history-light-en', path: '/setting', as: root, prepare: openHistory },
  { name: 'playground-light-en', path: '/playground', as: alice, prepare: askTwice },
  { name: 'key-light-en', path: `/token?open=use-${key}`, as: alice },
  { name: 'dashboard-user-light-zh', path: '/detail', as: alice, language: 'zh' },
  { name: 'home-light-en', path: '/' },
  { name: 'channels-light-en', path: '/channel', as: root },
  { name: 'channel-new-light-en', path: '/channel?open=new', as: root },
  { name: 'log-light-en', path: '/log', as: root, size: { width: 1280, height: 640 }, prepare: expandSecond },
  { name: 'log-dark-zh-600', path: '/log', as: root, size: phone, ...dark },
  { name: 'drawings-light-en', path: '/midjourney', as: root, prepare: untilSucceeded('Succeeded') },
  { name: 'tasks-dark-zh-600', path: '/task', as: root, size: phone, ...dark, prepare: untilSucceeded('成功') },
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
    await page.screenshot({ path: join(directory, `${name}.png`), timeout: 60_000 });
    for (const problem of problems) console.warn(`${name}: ${problem}`);
  } finally {
    await close();
  }
}

const [, , folder, ...only] = process.argv;
const directory = folder ?? fileURLToPath(new URL('../../docs/images', import.meta.url));
mkdirSync(directory, { recursive: true });
const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-pictures-'));
const browser = await launchBrowser();
if (browser !== null) {
  buildConsole();
  const config = readConfig({
    PORT: '0',
    DATA_DIR: dataDir,
    GLOBAL_WEB_RATE_LIMIT_ENABLE: 'false',
    CRITICAL_RATE_LIMIT_ENABLE: 'false',
  });
  const demo = await startDemo(config, pino({ level: 'error' }), async () => password);
  const { application, url } = demo.gateway;
  const unchanged = { username: null, displayName: null, group: null, quota: null, role: null };
  for (const { id, cast } of demo.seeded.people)
    if (cast.username === alice.username)
      await application.users.edit(demo.seeded.root, id, { ...unchanged, password });
  const end = demo.begin();
  const shots = shotsOf(await scenes(demo)).filter(({ name }) => only.length === 0 || only.includes(name));
  const watched = shots.filter(({ prepare }) => prepare === watch);
  await Promise.all(watched.map((shot) => take(browser, url, directory, shot)));
  for (const shot of shots) if (!watched.includes(shot)) await take(browser, url, directory, shot);
  await end();
  await demo.gateway.stop();
  await Promise.all([demo.provider.stop(), demo.taskServer.stop()]);
  await browser.close();
}
rmSync(dataDir, { recursive: true, force: true });
