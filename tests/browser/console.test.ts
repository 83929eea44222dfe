import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { buildConsole, launchBrowser } from '../support/gateway/browser.js';
import { accessibility } from './accessibility.js';
import { channelHealth } from './channel-health.js';
import { dashboard } from './dashboard.js';
import { deepLinks } from './deep-links.js';
import { doors } from './doors.js';
import { elsewhere } from './elsewhere.js';
import { exports } from './exports.js';
import { firstRun } from './first-run.js';
import { hostileTexts } from './hostile-texts.js';
import { lostConnection } from './lost-connection.js';
import { palette } from './palette.js';
import { payments } from './payments.js';
import { personal } from './personal.js';
import { playground } from './playground.js';
import { redemption } from './redemption.js';
import { registering } from './registering.js';
import { requests } from './requests.js';
import { roles } from './roles.js';
import { secondFactor } from './second-factor.js';
import { setUpCode } from './set-up-code.js';
import { settings } from './settings.js';
import { shop } from './shop.js';
import { smallAndKeyboard } from './small-and-keyboard.js';
import { stoppedReadModels } from './stopped-read-models.js';
import { tokens } from './tokens.js';
import { typesNotServed } from './types-not-served.js';

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

  describe('from the first start to the first metered call', () => firstRun(launched));
  describe('the first run of a gateway that others can reach', () => setUpCode(launched));
  describe('at the door', () => doors(launched));
  describe('a link that is opened signed out', () => deepLinks(launched));
  describe('the palette', () => palette(launched));
  describe('registering, and forgotten passwords', () => registering(launched));
  describe('an account elsewhere', () => elsewhere(launched));
  describe('the health of channels', () => channelHealth(launched));
  describe('a connection that breaks', () => lostConnection(launched));
  describe('stopped read models', () => stoppedReadModels(launched));
  describe('types that are not served', () => typesNotServed(launched));
  describe('payments', () => payments(launched));
  describe('a month as a file', () => exports(launched));
  describe('one request', () => requests(launched));
  describe('the dashboard', () => dashboard(launched));
  describe('tokens', () => tokens(launched));
  describe('what strangers come for', () => shop(launched));
  describe('the playground', () => playground(launched));
  describe('redemption codes', () => redemption(launched));
  describe('the settings', () => settings(launched));
  describe('one’s own account', () => personal(launched));
  describe('second factors', () => secondFactor(launched));
  describe('an administrator and a user', () => roles(launched));
  describe('on a phone, and without a mouse', () => smallAndKeyboard(launched));
  describe('hostile texts', () => hostileTexts(launched));
  describe('barriers', () => accessibility(launched));
});
