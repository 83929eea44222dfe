import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { buildConsole, launchBrowser } from '../support/browser.js';
import { doors } from './doors.js';

/*
 * What people do with the console, done in a real browser against the real gateway. One file, so that one browser and
 * one build serve all; the journeys are in the modules beside it.
 */

const browser = await launchBrowser();

const launched = (): Browser => {
  if (browser === null) throw new Error('there is no browser');
  return browser;
};

describe.skipIf(browser === null)('the console, in a browser (needs Chromium)', () => {
  beforeAll(() => buildConsole());
  afterAll(() => browser?.close());

  describe('at the door', () => doors(launched));
});
