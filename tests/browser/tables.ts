import type { Locator, Page } from 'playwright-core';

/** The row of a table in which a text stands; `table` is what the table lists. */
export const rowOf = (page: Page, table: string, text: string | RegExp): Locator =>
  page.getByRole('region', { name: table, exact: true }).getByRole('row').filter({ hasText: text });

/** To another page of the console, by the sidebar. */
export async function visit(page: Page, link: string, heading = link): Promise<void> {
  await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: link, exact: true }).click();
  await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
}

/** Whether the page was never loaded anew since `mark` was called. */
export const mark = (page: Page): Promise<unknown> => page.evaluate('window.sinceMark = true');
export const isMarked = (page: Page): Promise<boolean> => page.evaluate<boolean>('window.sinceMark === true');

const led = (page: Page, path: string): Promise<unknown> =>
  page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)}), dispatchEvent(new PopStateEvent('popstate'))`);

/**
 * To another page of the console, at any address that it has, as a link in it would lead there: nothing is loaded anew,
 * which costs a browser the most. By an address that does not exist, so that nothing of the page before is taken for
 * what is to come.
 */
export async function follow(page: Page, path: string): Promise<void> {
  const nowhere = page.getByRole('heading', { name: 'Page does not exist' });
  await led(page, '/nowhere');
  await nowhere.waitFor();
  await led(page, path);
  await nowhere.waitFor({ state: 'detached' });
}
