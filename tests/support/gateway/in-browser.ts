import type { Browser } from 'playwright-core';
import { afterEach, beforeAll, describe } from 'vitest';
import { buildConsole, launchBrowser } from './browser.js';

/*
 * One browser for all test files that a worker runs, which ends with the worker. Each console in it is a context of its
 * own: cookies, storage and cache are not shared.
 */

const browser = await launchBrowser();
let built = false;

const launched = (): Browser => {
  if (browser === null) throw new Error('there is no browser');
  return browser;
};

/** What a failed test left on the screen, so that it can be found out from what was printed. */
async function printPages(): Promise<void> {
  for (const page of launched()
    .contexts()
    .flatMap((context) => context.pages())) {
    const text = await page.innerText('body', { timeout: 1_000 }).catch(String);
    console.error(`When the test failed, ${page.url()} showed:\n${text.slice(0, 2_000)}`);
  }
}

/** A suite of journeys through the console, which is built first. Skipped where no browser runs. */
export function describeInBrowser(title: string, journeys: (launched: () => Browser) => void): void {
  describe.skipIf(browser === null)(`${title} (needs Chromium)`, { timeout: 120_000 }, () => {
    beforeAll(() => {
      if (!built) buildConsole();
      built = true;
    });
    journeys(launched);
    // The last hook of a suite is the first to run: the pages are still open.
    afterEach(async ({ task }) => {
      if (task.result?.state === 'fail') await printPages();
    });
  });
}
