import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSimulatedTasks } from '../../src/demo/simulated-tasks.js';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/gateway/test-gateway.js';
import { expectNoBarriers } from './axe.js';
import { rowOf, visit } from './tables.js';

/** A red dot. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==',
  'base64',
);

interface DrawingProxy {
  readonly url: string;
  /** What it says of a task from now on. */
  readonly tasks: Map<string, Record<string, unknown>>;
  readonly server: Server;
}

/** Takes every drawing, and reports on each as the test has it. */
async function startDrawingProxy(): Promise<DrawingProxy> {
  const tasks = new Map<string, Record<string, unknown>>();
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/pictures/')) {
      response.writeHead(200, { 'content-type': 'image/png' }).end(png);
      return;
    }
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    request.once('end', () => {
      const body = JSON.parse(text || '{}') as { ids?: string[]; prompt?: string };
      const answer = (value: unknown) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
      if (body.ids !== undefined) return answer(body.ids.flatMap((id) => tasks.get(id) ?? []));
      const id = `17121580114649${10 + tasks.size}`;
      tasks.set(id, { id, action: 'IMAGINE', prompt: body.prompt, status: 'SUBMITTED', progress: '0%' });
      return answer({ code: 1, description: 'Submit success', result: id, properties: {} });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, tasks, server };
}

/** Tasks as they are drawn: by whom they are seen, and how they get on in front of one's eyes. */
function tasks(launched: () => Browser): void {
  let gateway: TestGateway;
  let proxy: DrawingProxy;
  let alice: TestUser;
  let user: Console;
  let root: Console;
  let key = '';
  let othersKey = '';

  const send = async (path: string, apiKey: string, body?: object): Promise<Record<string, unknown>> => {
    const answer = await fetch(gateway.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
    return (await answer.json()) as Record<string, unknown>;
  };
  const draw = async (prompt: string, apiKey = key): Promise<string> =>
    String((await send('/mj/submit/imagine', apiKey, { prompt })).result);
  /** Its proxy says so, and its owner asks. */
  const become = async (id: string, members: Record<string, unknown>): Promise<void> => {
    proxy.tasks.set(id, { ...proxy.tasks.get(id), ...members });
    await expect
      .poll(() => send(`/mj/task/${id}/fetch`, key), { timeout: 20_000 })
      .toMatchObject({
        status: members.status,
        progress: members.progress,
      });
  };

  beforeAll(async () => {
    proxy = await startDrawingProxy();
    gateway = await startTestGateway();
    await gateway.addChannel({ name: 'studio', type: 5, baseUrl: proxy.url, key: 'secret', models: ['mj_imagine'] });
    alice = await gateway.addUser(100_000_000, 'alice');
    key = await gateway.addApiKey(alice);
    othersKey = await gateway.addApiKey(await gateway.addUser(100_000_000, 'bob'));
    user = await openConsole(launched(), { url: gateway.url });
    await signIn(user, alice);
    root = await openConsole(launched(), { url: gateway.url });
    await signIn(root, { username: 'root', password: gateway.rootPassword });
  });
  afterAll(async () => {
    await user?.close();
    await root?.close();
    await gateway?.stop();
    proxy?.server.closeAllConnections();
    proxy?.server.close();
  });

  test('appear as they are submitted, and their picture arrives without a reload', async () => {
    const { page } = user;
    await visit(page, 'Drawing logs', 'Drawing log');
    await page.getByText('No drawing in this time range matches').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.evaluate('window.sinceMark = true');
    const id = await draw('a cat at the window');
    const row = rowOf(page, 'Drawing log', id);
    await row.getByText('Imagine').waitFor();
    await row.getByRole('link', { name: 'a cat at the window' }).waitFor();
    await become(id, { status: 'IN_PROGRESS', progress: '45%' });
    await row.getByText('In progress').waitFor();
    expect(await row.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('45');
    await become(id, { status: 'SUCCESS', progress: '100%', imageUrl: `${proxy.url}/pictures/1.png` });
    await row.getByText('Succeeded').waitFor();
    await expect
      .poll(() => row.locator('img').evaluate((image: unknown) => (image as { naturalWidth: number }).naturalWidth))
      .toBe(5);
    // From this gateway, which does not disclose where it was made.
    expect(await row.locator('img').getAttribute('src')).toMatch(/\/mj\/image\/\d+\.[\w-]+$/);
    expect(await page.evaluate('window.sinceMark')).toBe(true);
    await expectNoBarriers(page);
  });

  test('open their picture, their prompt and their record in dialogs that the address keeps', async () => {
    const { page } = user;
    const row = rowOf(page, 'Drawing log', 'a cat at the window');
    await row.getByRole('link', { name: /^Show picture/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('img', { name: /^Picture 1 of task / }).waitFor();
    await expectNoBarriers(page);
    await page.reload();
    await dialog.getByRole('link', { name: 'Open in a new window' }).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await row.getByRole('rowheader').getByRole('link').click();
    await dialog.getByText('"action": "IMAGINE"').waitFor();
    expect(await dialog.textContent()).not.toMatch(/channelId|studio|127\.0\.0\.1/);
    await expectNoBarriers(page);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  test('say why they failed, and that their charge was given back', async () => {
    const { page } = user;
    const before = await gateway.available(alice);
    const id = await draw('a forbidden thing');
    expect(await gateway.available(alice)).toBeLessThan(before);
    await become(id, { status: 'FAILURE', progress: '100%', failReason: 'Banned prompt detected' });
    const row = rowOf(page, 'Drawing log', id);
    await row.getByText('Banned prompt detected').waitFor();
    await row.getByText('Refunded').waitFor();
    await expect.poll(() => gateway.available(alice)).toBe(before);
  });

  test('are visible to administrators with channel and user, and to no other user', async () => {
    const others = await draw('a secret of bob', othersKey);
    await root.page.goto('/midjourney');
    const row = rowOf(root.page, 'Drawing log', others);
    // Its prompt is a link too, and names him.
    await row.getByRole('link', { name: 'bob', exact: true }).waitFor();
    await row.getByRole('link', { name: /· studio$/ }).waitFor();
    await root.page.getByText('Midjourney callbacks are off').waitFor();
    await root.page.getByRole('searchbox', { name: 'Channel ID' }).fill('999');
    await root.page.keyboard.press('Enter');
    await root.page.getByText('No drawing in this time range matches').waitFor();

    const { page } = user;
    await page.goto('/midjourney');
    await rowOf(page, 'Drawing log', 'a cat at the window').waitFor();
    expect(await page.content()).not.toMatch(/a secret of bob|studio/);
    expect(await page.getByText('Midjourney callbacks are off').count()).toBe(0);
    expect(await page.getByRole('searchbox', { name: 'Channel ID' }).count()).toBe(0);
  });

  test('are found by their id alone', async () => {
    const { page } = user;
    await page.goto('/midjourney');
    await rowOf(page, 'Drawing log', 'a forbidden thing').waitFor();
    const id = await rowOf(page, 'Drawing log', 'a cat at the window').getByRole('rowheader').textContent();
    await page.getByRole('searchbox', { name: 'Task ID' }).fill(id ?? '');
    await page.keyboard.press('Enter');
    await expect.poll(() => rowOf(page, 'Drawing log', 'a forbidden thing').count()).toBe(0);
    expect(await rowOf(page, 'Drawing log', 'a cat at the window').count()).toBe(1);
  });

  test('of other platforms have a page of their own', async () => {
    const { page } = user;
    await visit(page, 'Task logs', 'Task log');
    await page.getByText('No task in this time range matches').waitFor();
    await expectNoBarriers(page);
  });

  test('play their video in their dialog, and in a tab of its own', async () => {
    const studio = await startSimulatedTasks({ lastMs: 100 });
    await gateway.addChannel({ name: 'films', type: 1, baseUrl: studio.url, models: ['sora-2'] });
    const { id } = await send('/v1/videos', key, { model: 'sora-2', prompt: 'a ball rolls' });
    await expect
      .poll(async () => (await send(`/v1/videos/${String(id)}`, key)).status, { timeout: 20_000 })
      .toBe('completed');
    const { page } = user;
    await visit(page, 'Task logs', 'Task log');
    const link = rowOf(page, 'Task log', String(id)).getByRole('link', { name: /^Play video/ });
    await link.click();
    const widthOf = (shown: Page) =>
      shown.locator('video').evaluate((video: unknown) => (video as { videoWidth: number }).videoWidth);
    await expect.poll(() => widthOf(page), { timeout: 20_000 }).toBe(320);
    const own = page.waitForEvent('popup');
    await page.getByRole('link', { name: 'Open in a new window' }).click();
    await expect.poll(async () => widthOf(await own), { timeout: 20_000 }).toBe(320);
    await (await own).close();
    await page.keyboard.press('Escape');
    await studio.stop();
  });

  test('have no menu entry while their options are off', async () => {
    await gateway.setOption('DrawingEnabled', 'false');
    await gateway.setOption('TaskEnabled', 'false');
    const { page } = user;
    await page.goto('/log');
    const menu = page.getByRole('navigation', { name: 'Console' });
    await menu.getByRole('link', { name: 'Usage logs' }).waitFor();
    expect(await menu.getByRole('link', { name: /^(Drawing|Task) logs$/ }).count()).toBe(0);
  });
}

describeInBrowser('tasks in the console', tasks);
