import { afterAll, beforeAll, describe } from 'vitest';
import { buildConsole, launchBrowser } from '../support/gateway/browser.js';
import { everyWidth } from './widths.js';

const browser = await launchBrowser();

describe.skipIf(browser === null)('the console at every width (needs Chromium)', () => {
  beforeAll(() => buildConsole());
  afterAll(() => browser?.close());

  everyWidth(() => {
    if (browser === null) throw new Error('there is no browser');
    return browser;
  });
});
