import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe finds that keeps somebody from using the page: the rule, and where. */
export async function barriers(page: Page): Promise<string[]> {
  // Through the debugger, past the policy that forbids the page what it did not bring along.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<axe.AxeResults>(
    "axe.run(document, { resultTypes: ['violations'], preload: false })",
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ target, html }) => `${id}: ${target.join(' ')} — ${html.slice(0, 160)}`));
}
