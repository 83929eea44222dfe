import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { themeOf } from '../support/gateway/browser.js';

/** What axe finds that keeps somebody from using the page: the rule, and where. */
export const barriers = (page: Page): Promise<string[]> => found(page, {});

/** Rules that may say something else of a page in other colours. */
const aboutColours = ['color-contrast', 'link-in-text-block'];

/** In both themes. They differ in nothing but colours, so the second is asked for what can be wrong with these. */
export async function expectNoBarriers(page: Page): Promise<void> {
  for (const [colorScheme, options] of [
    ['light', {}],
    ['dark', { runOnly: aboutColours }],
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await expect.poll(() => themeOf(page), { timeout: 10_000 }).toBe(colorScheme);
    expect({ colorScheme, barriers: await found(page, options) }).toEqual({ colorScheme, barriers: [] });
  }
}

async function found(page: Page, options: { readonly runOnly?: readonly string[] }): Promise<string[]> {
  // Through the debugger, past the policy that forbids the page what it did not bring along.
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe.source);
  const settings = JSON.stringify({ resultTypes: ['violations'], preload: false, ...options });
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(document, ${settings})`);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ target, html }) => `${id}: ${target.join(' ')} — ${html.slice(0, 160)}`));
}
