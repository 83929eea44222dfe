import type { Browser, WebSocketRoute } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway } from '../support/gateway/test-gateway.js';
import { isMarked, mark, rowOf, visit } from './tables.js';

/** Close code of a service that restarts: the client comes back. */
const serviceRestart = 1012;

/** The live connection breaks while things go on: what is missed is made up for, and nobody reloads. */
function lostConnection(launched: () => Browser): void {
  const open = new Set<WebSocketRoute>();
  let isDown = false;
  let gateway: TestGateway;
  let opened: Console;
  let apiKey: string;

  beforeAll(async () => {
    gateway = await startTestGateway();
    await gateway.addChannel({ name: 'harbour' });
    const user = await gateway.addUser(1_000_000);
    apiKey = await gateway.addApiKey(user);
    opened = await openConsole(launched(), { url: gateway.url });
    await opened.page.routeWebSocket(/\/graphql$/, (socket) => {
      if (isDown) {
        void socket.close({ code: serviceRestart });
        return;
      }
      socket.connectToServer();
      open.add(socket);
    });
    await signIn(opened, { username: 'root', password: gateway.rootPassword });
  });
  afterAll(async () => {
    await opened?.close();
    await gateway?.stop();
  });

  const breakConnection = async (): Promise<void> => {
    isDown = true;
    for (const socket of open) await socket.close({ code: serviceRestart });
    open.clear();
  };

  const call = async (model: string): Promise<void> => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello?' }] }),
    });
    expect(answer.status).toBe(200);
    await answer.text();
  };

  test('the log shows that it is not live, and then shows missed lines, once', async () => {
    const { page } = opened;
    await visit(page, 'Usage logs', 'Usage log');
    await page.getByText('Live', { exact: true }).waitFor();
    await mark(page);
    await call('gpt-4o-mini');
    await rowOf(page, 'Usage log', 'gpt-4o-mini').waitFor();

    await breakConnection();
    await page.getByText('Connection lost, reconnecting…').waitFor();
    await call('gpt-4o');
    isDown = false;
    await rowOf(page, 'Usage log', /gpt-4o(?!-mini)/).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await call('gpt-4o-mini');
    await expect.poll(() => rowOf(page, 'Usage log', 'gpt-4o-mini').count()).toBe(2);
    expect(await rowOf(page, 'Usage log', /gpt-4o(?!-mini)/).count()).toBe(1);
    expect(await isMarked(page)).toBe(true);
  });

  test('the board shows the current state of channels, whatever was missed', async () => {
    const { page } = opened;
    await visit(page, 'Dashboard');
    const row = rowOf(page, 'Channel health', 'harbour');
    await row.getByText('Enabled').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await mark(page);

    await breakConnection();
    await page.getByText('The connection is lost; these are the last figures received.').waitFor();
    const { application, root } = gateway;
    const [channel] = application.directory.channels();
    if (channel === undefined) throw new Error('there is no channel');
    await application.visible(await application.channels.setEnabled(root, channel.id, false));
    isDown = false;
    await row.getByText('Disabled').waitFor();
    expect(await isMarked(page)).toBe(true);
  });
}

describeInBrowser('an interrupted connection in the browser', lostConnection);
