import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newClient } from '../../src/adapters/database/postgres.js';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway } from '../support/gateway/test-gateway.js';
import { channelSettings } from '../support/given/channel-settings.js';
import { until } from '../support/until.js';
import { expectNoBarriers } from './axe.js';

/** For the page to be drawn anew, on a machine that has much else to do. */
const patience = { timeout: 10_000 };

/** Five read models that cannot go on, the ledger and the quota history among them, as an administrator sees it. */
function stoppedReadModels(launched: () => Browser): void {
  let gateway: TestGateway;
  let opened: Console;
  let names: readonly string[];

  beforeAll(async () => {
    gateway = await startTestGateway();
    names = await stopFive(gateway);
    opened = await openConsole(launched(), { url: gateway.url });
    await signIn(opened, { username: 'root', password: gateway.rootPassword });
  });
  afterAll(async () => {
    await opened?.close();
    await gateway?.stop();
  });

  test.for([
    ['en', 'Stopped read models: ', ', ', 'Leave out event'],
    ['zh', '已停止的读模型：', '、', '跳过事件'],
  ] as const)(
    'are named in one notice, with the effect stated once and room around it: %s',
    async ([language, said, and, leaveOut]) => {
      const { page } = opened;
      await page.evaluate(`localStorage.setItem('language', '${language}')`);
      await page.goto('/channel');
      const notice = page.getByRole('alert').filter({ hasText: said + names.join(and) });
      await notice.waitFor();
      expect(await page.getByText(said).count()).toBe(1);
      expect(await notice.getByRole('listitem').count()).toBe(names.length);
      // The ledger and the history of quota can leave out nothing.
      expect(await notice.getByRole('button', { name: leaveOut }).count()).toBe(names.length - 2);
      for (const width of [1280, 600]) {
        await page.setViewportSize({ width, height: 900 });
        await expect.poll(() => edgesOf(page), patience).toEqual({ aligned: true, apart: true, overflowing: false });
      }
      await expectNoBarriers(page);
    },
  );
}

/** By events that no command accepts any more; resolves with the names of those that cannot fold them. */
async function stopFive({ config, application, root }: TestGateway): Promise<string[]> {
  const client = newClient({ url: config.database.url ?? '' });
  await client.connect();
  const impossible = { settings: channelSettings({ type: 2 ** 31 }), secrets: { key: null, proxy: null } };
  for (const [stream, type, payload] of [
    ['apikey-900', 'ApiKeyIssued', { owner: 'nobody' }],
    ['channel-900', 'ChannelAdded', impossible],
  ] as const)
    await client.query(
      `insert into events (position, event_id, stream, revision, type, version, data, at)
       select max(position) + 1, gen_random_uuid(), $1, 0, $2, 1, $3, 0 from events`,
      [stream, type, JSON.stringify(payload)],
    );
  await client.end();
  return until(async () => {
    const stopped = application.readModels.list(root).filter(({ failure }) => failure !== null);
    return stopped.length === 5 ? stopped.map(({ name }) => name) : null;
  }, 60_000);
}

/** Whether the notice stands in line with the page under it, and apart from it; and whether anything is too wide. */
const edgesOf = (page: Page): Promise<unknown> =>
  page.evaluate(`(() => {
    const box = (selector) => document.querySelector(selector).getBoundingClientRect();
    const notice = box('main [role=alert]');
    const header = box('main header');
    return {
      aligned: Math.abs(notice.left - header.left) < 1 && Math.abs(notice.right - header.right) < 1,
      apart: header.top - notice.bottom > 8 && notice.top - box('main').top > 8,
      overflowing: document.documentElement.scrollWidth > window.innerWidth,
    };
  })()`);

describeInBrowser('stopped read models in the browser', stoppedReadModels);
