import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Caller, type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { type KeepingUpstream, startKeepingUpstream } from '../../support/upstreams/keeping-upstream.js';

/* Containers in which code was run, and the files that it made there. */

let gateway: TestGateway;
let callers: Callers;
let upstream: KeepingUpstream;
let user: TestUser;
let client: OpenAI;
let other: Caller;
let id: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  upstream = await startKeepingUpstream();
  for (const option of ['ModelRatio', 'CompletionRatio']) await gateway.setOption(option, '{"m":1}');
  await gateway.addChannel({ type: 1, models: ['m'], baseUrl: upstream.url });
  user = await gateway.addUser(1_000_000_000);
  const apiKey = await gateway.addApiKey(user);
  client = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  other = callers.with(await gateway.addApiKey(await gateway.addUser(1_000_000_000)));
  const tools = [{ type: 'code_interpreter', container: { type: 'auto' } }] as const;
  const { output } = await client.responses.create({ model: 'm', input: 'Count.', tools: [...tools] });
  id = output.flatMap((item) => (item.type === 'code_interpreter_call' ? [item.container_id] : []))[0] ?? '';
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
});

describe('a container in which code was run', () => {
  test.each(['true', 'false'])(
    'is read by its user with its files, byte for byte and for nothing (kept upstream: %s)',
    async (keeps) => {
      await gateway.setOption('general_setting.keep_upstream', keeps);
      const before = await gateway.available(user);
      expect(await client.containers.retrieve(id)).toMatchObject({ id, object: 'container' });
      const files: string[] = [];
      for await (const file of client.containers.files.list(id)) files.push(file.id);
      expect(files).toEqual(['cfile_1']);
      expect(await client.containers.files.retrieve('cfile_1', { container_id: id })).toMatchObject({ bytes: 4 });
      const content = await client.containers.files.content.retrieve('cfile_1', { container_id: id });
      expect([...new Uint8Array(await content.arrayBuffer())]).toEqual([0, 1, 0xfe, 0xff]);
      // No page that code has made is shown at the gateway's address.
      expect(content.headers.get('content-type')).toBe('application/octet-stream');
      expect(content.headers.get('x-content-type-options')).toBe('nosniff');
      expect(await gateway.available(user)).toBe(before);
      expect(upstream.received.at(-1)?.url).toBe(`/v1/containers/${id}/files/cfile_1/content`);
      await gateway.setOption('general_setting.keep_upstream', 'true');
    },
  );

  test.each([
    ['GET', ''],
    ['DELETE', ''],
    ['GET', '/files'],
    ['GET', '/files/cfile_1'],
    ['DELETE', '/files/cfile_1'],
    ['GET', '/files/cfile_1/content'],
  ])('is not found for another user: %s %s', async (method, rest) => {
    const refused = await other.send(`/v1/containers/${id}${rest}`, { method });
    const unknown = await other.send(`/v1/containers/${id}9${rest}`, { method });
    expect([refused.status, errorIn(refused).code]).toEqual([404, 'container_not_found']);
    expect(refused.text.replaceAll(id, 'ID').replaceAll(refused.requestId, '')).toBe(
      unknown.text.replaceAll(`${id}9`, 'ID').replaceAll(unknown.requestId, ''),
    );
    expect(upstream.received).toEqual([]);
  });

  test('has a file that is not found by another name, nor by an address', async () => {
    const missing = await client.containers.files.retrieve('cfile_2', { container_id: id }).catch((error) => error);
    expect(missing).toMatchObject({ status: 404, code: 'file_not_found' });
    upstream.received.length = 0;
    const outside = await client.containers.files
      .retrieve('a/../../models', { container_id: id })
      .catch((error) => error);
    expect(outside).toMatchObject({ status: 404 });
    expect(upstream.received).toEqual([]);
  });

  test('is deleted by its user, as its files are', async () => {
    await client.containers.files.delete('cfile_1', { container_id: id });
    await client.containers.delete(id);
    expect(upstream.received.map(({ method, url }) => `${method} ${url}`)).toEqual([
      `DELETE /v1/containers/${id}/files/cfile_1`,
      `DELETE /v1/containers/${id}`,
    ]);
  });
});
