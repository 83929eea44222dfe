import type { Browser } from 'playwright-core';
import { beforeAll, describe } from 'vitest';
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

/** A suite of journeys through the console, which is built first. Skipped where no browser runs. */
export function describeInBrowser(title: string, journeys: (launched: () => Browser) => void): void {
  describe.skipIf(browser === null)(`${title} (needs Chromium)`, { timeout: 120_000 }, () => {
    beforeAll(() => {
      if (!built) buildConsole();
      built = true;
    });
    journeys(launched);
  });
}
