import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Console, openConsole, signIn } from '../support/gateway/browser.js';
import { describeInBrowser } from '../support/gateway/in-browser.js';
import { startTestGateway, type TestGateway } from '../support/gateway/test-gateway.js';
import { startUpstream, type Upstream } from '../support/upstreams/upstream.js';
import { barriers } from './axe.js';

const list = {
  object: 'list',
  data: ['Qwen/Qwen3-8B', 'lora-1'].map((id) => ({ id, object: 'model', owned_by: 'vllm' })),
};
const answers: Readonly<Record<string, unknown>> = { '/v1/models': list, '/version': { version: '0.11.0' } };

const phone = { width: 600, height: 900 };

/** A channel for a server that the operator runs: by the name of the server, and by its address. */
function engines(launched: () => Browser): void {
  let gateway: TestGateway;
  let engine: Upstream;
  let opened: Console;

  beforeAll(async () => {
    gateway = await startTestGateway();
    engine = await startUpstream(({ url }, response) => {
      const answer = answers[url];
      response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify(answer ?? { detail: 'Not Found' }));
    });
    opened = await openConsole(launched(), { url: gateway.url });
    await signIn(opened, { username: 'root', password: gateway.rootPassword });
    await opened.page.setViewportSize(phone);
  });
  afterAll(async () => {
    await opened?.close();
    await gateway?.stop();
    await engine?.stop();
  });

  test.for([
    ['zh', '自建推理服务', '接口地址', '检测该地址', '该地址运行的是 vLLM 0.11.0，共 2 个模型', '类型'],
    [
      'en',
      'Server of your own',
      'Base URL',
      'Look at the address',
      'vLLM 0.11.0 answers there. Models that it lists: 2',
      'Type',
    ],
  ] as const)(
    'an address is looked at, and type and models are filled in: %s',
    async ([language, own, base, look, found, type]) => {
      const { page } = opened;
      await page.evaluate(`localStorage.setItem('language', '${language}')`);
      await page.goto('/channel?open=new');
      const server = page.getByRole('combobox', { name: own, exact: true });
      await server.waitFor();
      await page.getByRole('textbox', { name: base }).fill(`${engine.url}/v1`);
      await page.getByRole('button', { name: look }).click();
      await page.getByRole('status').filter({ hasText: found }).waitFor();
      expect(await server.inputValue()).toBe('vllm');
      expect(await page.getByRole('textbox', { name: base }).inputValue()).toBe(engine.url);
      expect(await page.getByRole('combobox', { name: type, exact: true }).inputValue()).toBe('OpenAI');
      await page.getByText('Qwen/Qwen3-8B').first().waitFor();
      const overflow = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
      expect(await page.evaluate(overflow)).toBe(false);
      expect(await barriers(page)).toEqual([]);
    },
  );

  test('a server that is chosen by its name fills in type and usual address', async () => {
    const { page } = opened;
    await page.goto('/channel?open=new');
    await page.getByRole('combobox', { name: 'Server of your own', exact: true }).selectOption('Ollama');
    const address = page.getByRole('textbox', { name: 'Base URL' });
    await expect.poll(() => address.inputValue()).toBe('http://localhost:11434');
    expect(await page.getByRole('combobox', { name: 'Type', exact: true }).inputValue()).toBe('Ollama');
  });

  test('an address where nothing answers is reported, and changes nothing in the form', async () => {
    const { page } = opened;
    await page.goto('/channel?open=new');
    const address = page.getByRole('textbox', { name: 'Base URL' });
    await address.fill('http://127.0.0.1:9');
    await page.getByRole('button', { name: 'Look at the address' }).click();
    await page.getByText('Nothing answers at this address').first().waitFor();
    expect(await address.inputValue()).toBe('http://127.0.0.1:9');
  });
}

describeInBrowser('the form of a channel for servers of one’s own', engines);
