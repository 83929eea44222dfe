import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { withDatabase } from '../../../src/cli/database.js';
import type { ChannelId } from '../../../src/domain/kernel/ids.js';
import { type Answer, type Caller, type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { expectLedgersToAgree, ledgerAtRest } from '../../support/gateway/ledger-snapshot.js';
import { lineOf, linesOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';

/*
 * Which channel serves a call, and what happens when it does not. Channels map the models they are asked for to upstream
 * names of their own, so the provider's tally says who was asked.
 */

const balance = 100_000_000;

let gateway: TestGateway;
let callers: Callers;
let user: TestUser;
let caller: Caller;
let models = 0;

/** A name no other test uses. */
const newModel = (): string => `model-${++models}`;

beforeAll(async () => {
  gateway = await startTestGateway({ RELAY_TIMEOUT: '1' });
  callers = openCallers(gateway.url);
  // Every model has a price then, whatever its name.
  await gateway.setOption('SelfUseModeEnabled', 'true');
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
});
beforeEach(async () => {
  gateway.provider.reset();
  user = await gateway.addUser(balance);
  caller = callers.with(await gateway.addApiKey(user));
});
afterEach(() => gateway.setOption('RetryTimes', '0'));

/** A channel that asks the provider for `upstream` when `model` is wanted. */
const addChannel = (model: string, upstream: string, settings: Parameters<TestGateway['addChannel']>[0] = {}) =>
  gateway.addChannel({
    name: upstream,
    models: [model],
    modelMapping: JSON.stringify({ [model]: upstream }),
    ...settings,
  });

const refuses = (upstream: string, status: number, error: Record<string, string> = {}) =>
  gateway.provider.script(upstream, {
    kind: 'refuse',
    status,
    body: { error: { message: 'no', type: 'server_error', code: 'out', ...error } },
  });

const asked = (): Readonly<Record<string, number>> => gateway.provider.tally().byModel;

const untouched = () => until(async () => ((await gateway.available(user)) === balance ? true : null));

const setGroup = async ({ actor }: TestUser, group: string) => {
  const patch = { username: null, password: null, displayName: null, quota: null, role: null };
  const { application, root } = gateway;
  await application.visible(await application.users.edit(root, actor.id, { ...patch, group }));
};

describe('a call is routed to a channel that serves', () => {
  test('its model, for the group of the user', async () => {
    const model = newModel();
    await addChannel(model, `${model}-vip`, { groups: ['vip', 'svip'] });
    const refused = await caller.chat({ model });
    expect(refused.status).toBe(503);
    expect(errorIn(refused)).toMatchObject({ code: 'model_not_found', type: 'gateway_error' });
    expect(errorIn(refused).message).toContain(`no available channel for model ${model} in group default`);

    await setGroup(user, 'svip');
    expect((await caller.chat({ model })).status).toBe(200);
  });

  test('the group of the API key, if its owner may use that group', async () => {
    const model = newModel();
    await addChannel(model, `${model}-default`);
    await addChannel(model, `${model}-vip`, { groups: ['vip'] });
    const vip = callers.with(await gateway.addApiKey(user, { group: 'vip' }));
    const answer = await vip.chat({ model });
    expect(asked()).toEqual({ [`${model}-vip`]: 1 });
    expect(await lineOf(gateway, user, answer)).toMatchObject({ group: 'vip' });

    const forbidden = await callers.with(await gateway.addApiKey(user, { group: 'svip' })).chat({ model });
    expect([forbidden.status, errorIn(forbidden).code]).toEqual([403, 'group_not_allowed']);
  });

  test('any model: an unknown model is an error that is not worth a retry', async () => {
    const refused = await caller.chat({ model: newModel() });
    expect(refused.status).toBe(404);
    expect(errorIn(refused)).toMatchObject({ code: 'model_not_found', type: 'invalid_request_error', param: 'model' });
    // No model can have such a name.
    const endless = await caller.chat({ model: 'x'.repeat(1_000_000) });
    expect([endless.status, endless.text.length < 1000]).toEqual([400, true]);
  });

  test('an existing group, not a retired one', async () => {
    const model = newModel();
    await addChannel(model, model, { groups: ['gone'] });
    await gateway.setOption('UserUsableGroups', '{"default":"","vip":"","gone":""}');
    const answer = await callers.with(await gateway.addApiKey(user, { group: 'gone' })).chat({ model });
    expect([answer.status, errorIn(answer).code]).toEqual([403, 'group_retired']);
  });

  test('its model while it is enabled', async () => {
    const model = newModel();
    const id = await addChannel(model, model);
    const { application, root } = gateway;
    await application.visible(await application.channels.setEnabled(root, id, false));
    expect((await caller.chat({ model })).status).toBe(503);
    await application.visible(await application.channels.setEnabled(root, id, true));
    expect((await caller.chat({ model })).status).toBe(200);
  });
});

describe('routing by priority and weight', () => {
  test('sends everything to the highest priority while it works', async () => {
    const model = newModel();
    await addChannel(model, 'low', { priority: 1, weight: 1_000 });
    await addChannel(model, 'high', { priority: 2, weight: 0 });
    for (let call = 0; call < 20; call++) await caller.chat({ model });
    expect(asked()).toEqual({ high: 20 });
  });

  test('shares calls within a priority by the weight plus ten', async () => {
    const model = newModel();
    await addChannel(model, 'weight-0', { weight: 0 });
    await addChannel(model, 'weight-20', { weight: 20 });
    const calls = 400;
    const lanes = Array.from({ length: 20 }, async () => {
      for (let call = 0; call < calls / 20; call++) await caller.chat({ model });
    });
    await Promise.all(lanes);
    // 10 of 40: a quarter, here within six standard deviations.
    const light = asked()['weight-0'] ?? 0;
    expect(light + (asked()['weight-20'] ?? 0)).toBe(calls);
    expect(Math.abs(light - calls / 4)).toBeLessThan(6 * Math.sqrt((calls * 3) / 16));
  });

  test('starts each attempt a priority lower', async () => {
    const model = newModel();
    await gateway.setOption('RetryTimes', '2');
    const ids = [
      await addChannel(model, 'first', { priority: 30 }),
      await addChannel(model, 'second', { priority: 20 }),
      await addChannel(model, 'third', { priority: 10 }),
    ];
    refuses('first', 500);
    refuses('second', 500);
    const answer = await caller.chat({ model });
    expect(answer.status).toBe(200);
    expect((await lineOf(gateway, user, answer)).attempts).toEqual(ids);
  });
});

describe('a retry', () => {
  let model: string;
  let broken: ChannelId;
  let working: ChannelId;

  beforeEach(async () => {
    model = newModel();
    broken = await addChannel(model, 'broken', { priority: 1 });
    working = await addChannel(model, 'working');
    await gateway.setOption('RetryTimes', '1');
    gateway.provider.script('working', { tokens: { prompt: 10, completion: 10 } });
  });

  test('is one call: one line that names both channels, one charge', async () => {
    refuses('broken', 500);
    const answer = await caller.chat({ model });
    expect(answer.status).toBe(200);
    const [line, ...others] = await linesOf(gateway, user, answer);
    expect(others).toEqual([]);
    expect(line).toMatchObject({ type: 2, attempts: [broken, working], channel_id: working, quota: 750 });
    expect(await gateway.available(user)).toBe(balance - 750);
    expect(gateway.logged.some((entry) => entry.includes(`"channels":"${broken}->${working}"`))).toBe(true);
  });

  test.each([401, 403, 404, 429, 500, 502, 503, 307])('follows the status %i', async (status) => {
    refuses('broken', status);
    expect((await caller.chat({ model })).status).toBe(200);
  });

  test.each([400, 408, 504, 524])(
    'does not follow the status %i: another channel would answer the same',
    async (status) => {
      refuses('broken', status);
      const answer = await caller.chat({ model });
      expect(answer.status).toBe(status);
      expect(errorIn(answer)).toMatchObject({ type: 'server_error', code: 'out' });
      expect(asked()).toEqual({ broken: 1 });
      await untouched();
    },
  );

  test('follows a reset connection, a silence, and an error inside a success', async () => {
    gateway.provider.script('broken', { kind: 'reset' });
    expect((await caller.chat({ model })).status).toBe(200);
    gateway.provider.script('broken', { kind: 'hang' });
    expect((await caller.chat({ model })).status).toBe(200);
    refuses('broken', 200);
    expect((await caller.chat({ model })).status).toBe(200);
    expect(asked()).toEqual({ broken: 3, working: 3 });
  });

  test('keeps the possible cost of the first attempt in suspense, while the caller pays for the second only', async () => {
    gateway.provider.script('broken', { kind: 'reset' });
    const answer = await caller.chat({ model });
    expect(answer.status).toBe(200);
    const { reserved, settled } = await withDatabase(gateway.config, quietLog, async (database) => {
      const books = await ledgerAtRest(database);
      await expectLedgersToAgree(database, books);
      const story = books.calls.get(answer.requestId);
      if (story === undefined) throw new Error('the call is not in the log');
      return story;
    });
    expect(settled[0]).toMatchObject({ attempts: [broken, working], suspense: reserved[0]?.reserved });
    expect(settled[0]?.suspense).toBeGreaterThan(0);

    // A refusal costs nothing, and neither does an upstream that was never reached.
    refuses('broken', 500);
    const refused = await caller.chat({ model });
    const books = await withDatabase(gateway.config, quietLog, ledgerAtRest);
    expect(books.calls.get(refused.requestId)?.settled[0]).toMatchObject({ suspense: 0 });
  });

  test('follows a stream that fails before its first frame, and never one that has begun', async () => {
    gateway.provider.script('broken', { after: { frames: 0, then: 'error' } });
    expect((await caller.chat({ model, stream: true })).text).toContain('[DONE]');
    expect(asked()).toEqual({ broken: 1, working: 1 });

    gateway.provider.script('broken', { chunks: 20, chunkDelayMs: 2, after: { frames: 5, then: 'reset' } });
    const cut = await caller.chat({ model, stream: true });
    expect(cut.status).toBe(200);
    expect(cut.text).toContain('stream_response_error');
    expect(asked()).toEqual({ broken: 2, working: 1 });
  });

  test('sends the original request again: no change for one channel reaches the next', async () => {
    const { application, root } = gateway;
    const paramOverride = '{"temperature":0.1,"stop":["x"]}';
    await application.visible(await application.channels.edit(root, broken, { settings: { paramOverride } }));
    refuses('broken', 500);
    await caller.chat({ model, temperature: 0.9 });
    const [first, second] = gateway.provider.tally().requests;
    expect(first?.body).toMatchObject({ model: 'broken', temperature: 0.1, stop: ['x'] });
    expect(second?.body).toMatchObject({ model: 'working', temperature: 0.9 });
    expect(second?.body).not.toHaveProperty('stop');
  });

  test('ends with the last error when every channel has failed, and costs nothing', async () => {
    refuses('broken', 500, { code: 'first' });
    refuses('working', 503, { code: 'second' });
    const answer = await caller.chat({ model });
    expect(answer.status).toBe(503);
    expect(errorIn(answer).code).toBe('second');
    expect(await lineOf(gateway, user, answer)).toMatchObject({ type: 5, quota: 0, attempts: [broken, working] });
    await untouched();
  });

  test('returns to the best channel when all have failed and attempts are left', async () => {
    await gateway.setOption('RetryTimes', '3');
    refuses('broken', 500);
    refuses('working', 500);
    expect((await caller.chat({ model })).status).toBe(500);
    expect(asked()).toEqual({ broken: 3, working: 1 });
  });

  test('skips an upstream that cannot express the request, which is not counted', async () => {
    const model = newModel();
    const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } };
    const body = { messages: [{ role: 'user', content: [picture] }] };
    const textOnly = { type: 18, key: 'app|secret|key', baseUrl: gateway.provider.url, priority: 5 };
    await addChannel(model, 'Spark-Max', textOnly);
    const refused = await caller.chat({ model, ...body });
    expect([refused.status, errorIn(refused).message]).toEqual([400, expect.stringContaining('takes text only')]);
    await addChannel(model, 'sees');
    expect((await caller.chat({ model, ...body })).status).toBe(200);
    expect(asked()).toEqual({ sees: 1 });
  });

  test('does not repeat a channel while another of its priority has not been tried', async () => {
    const shared = newModel();
    await addChannel(shared, 'broken', { weight: 1_000_000 });
    await addChannel(shared, 'working', { weight: 0 });
    refuses('broken', 500);
    for (let call = 0; call < 20; call++) expect((await caller.chat({ model: shared })).status).toBe(200);
    // Drawn by weight alone the heavy channel would have been asked twice nearly every time.
    expect(asked()).toEqual({ broken: 20, working: 20 });
  });

  test('is not made for a caller that has disconnected, and the log says so', async () => {
    gateway.provider.script('broken', { kind: 'refuse', status: 500, firstByteDelayMs: 100 });
    const gone = new AbortController();
    const call = caller.chat({ model }, { signal: gone.signal });
    await until(async () => (asked().broken === 1 ? true : null));
    gone.abort();
    await expect(call).rejects.toThrow();
    const released = await withDatabase(gateway.config, quietLog, (database) =>
      // The end of the call may not have reached the log yet, when the caller has gone.
      until(async () => {
        const { calls } = await ledgerAtRest(database);
        const left = [...calls.values()]
          .flatMap((story) => story.released)
          .filter(({ reason }) => reason === 'caller-left');
        return left.length > 0 ? left : null;
      }),
    );
    expect(released).toMatchObject([{ attempts: [broken], status: null, code: null }]);
    expect(asked()).toEqual({ broken: 1 });
    await untouched();
  });

  test('is made as often as the operator permits: never by default', async () => {
    await gateway.setOption('RetryTimes', '0');
    refuses('broken', 500);
    expect((await caller.chat({ model })).status).toBe(500);
    expect(asked()).toEqual({ broken: 1 });
  });
});

describe('an API key with a channel id after it', () => {
  const rootKey = () => gateway.addApiKey({ actor: gateway.root });

  test('uses that channel, with any groups and priorities, and is never retried', async () => {
    const model = newModel();
    await gateway.setOption('RetryTimes', '3');
    await addChannel(model, 'usual', { priority: 9 });
    const pinned = await addChannel(model, 'pinned', { groups: ['svip'] });
    const admin = callers.with(`${await rootKey()}-${pinned}`);
    expect((await admin.chat({ model })).status).toBe(200);
    refuses('pinned', 500);
    expect((await admin.chat({ model })).status).toBe(500);
    expect(asked()).toEqual({ pinned: 2 });
  });

  test('is for administrators', async () => {
    const model = newModel();
    const id = await addChannel(model, model);
    const answer = await callers.with(`${await gateway.addApiKey(user)}-${id}`).chat({ model });
    expect([answer.status, errorIn(answer).code]).toEqual([403, 'channel_selection_forbidden']);
  });

  test('must name a channel that exists and is enabled', async () => {
    const model = newModel();
    const id = await addChannel(model, model);
    const key = await rootKey();
    for (const unknown of ['999999', 'x', '0', '1e3']) {
      const answer = await callers.with(`${key}-${unknown}`).chat({ model });
      expect([unknown, answer.status, errorIn(answer).code]).toEqual([unknown, 400, 'invalid_channel_id']);
    }
    const { application, root } = gateway;
    await application.visible(await application.channels.setEnabled(root, id, false));
    const answer = await callers.with(`${key}-${id}`).chat({ model });
    expect([answer.status, errorIn(answer).code]).toEqual([403, 'channel_disabled']);
  });

  test('still respects the models of the key', async () => {
    const [model, other] = [newModel(), newModel()];
    const id = await addChannel(model, model, { models: [model, other] });
    const key = await gateway.addApiKey({ actor: gateway.root }, { models: [other] });
    const answer = await callers.with(`${key}-${id}`).chat({ model });
    expect([answer.status, errorIn(answer).code]).toEqual([403, 'model_not_allowed']);
  });
});

describe('the status mapping of a channel', () => {
  test('converts a final status into one that is retried', async () => {
    const model = newModel();
    await gateway.setOption('RetryTimes', '1');
    await addChannel(model, 'broken', { priority: 1, statusCodeMapping: '{"400":"500"}' });
    await addChannel(model, 'working');
    refuses('broken', 400);
    expect((await caller.chat({ model })).status).toBe(200);
    expect(asked()).toEqual({ broken: 1, working: 1 });
  });

  test('converts a retried status into a final one, also as a number, and the caller gets the mapped status', async () => {
    const model = newModel();
    await gateway.setOption('RetryTimes', '1');
    await addChannel(model, 'broken', { priority: 1, statusCodeMapping: '{"503":400}' });
    await addChannel(model, 'working');
    refuses('broken', 503);
    expect((await caller.chat({ model })).status).toBe(400);
    expect(asked()).toEqual({ broken: 1 });
  });

  test('never changes a success', async () => {
    const model = newModel();
    await addChannel(model, model, { statusCodeMapping: '{"200":"500"}' });
    expect((await caller.chat({ model })).status).toBe(200);
  });
});

describe('the model mapping of a channel', () => {
  test('is transitive; the requested name is the one billed and logged', async () => {
    const model = newModel();
    await addChannel(model, 'end', { modelMapping: JSON.stringify({ [model]: 'middle', middle: 'end', end: 'end' }) });
    const answer = await caller.chat({ model });
    expect(asked()).toEqual({ end: 1 });
    expect(await lineOf(gateway, user, answer)).toMatchObject({ model, upstream_model: 'end' });
  });

  test('ignores a name mapped to itself', async () => {
    const model = newModel();
    await addChannel(model, model);
    const answer = await caller.chat({ model });
    expect(asked()).toEqual({ [model]: 1 });
    expect(await lineOf(gateway, user, answer)).toMatchObject({ model, upstream_model: null });
  });

  test('with a cycle is a fault of the channel: the next one serves, or the caller gets the error', async () => {
    const model = newModel();
    await gateway.setOption('RetryTimes', '1');
    await addChannel(model, 'x', { priority: 1, modelMapping: JSON.stringify({ [model]: 'x', x: 'y', y: 'x' }) });
    const alone = await caller.chat({ model });
    expect([alone.status, errorIn(alone).code]).toEqual([500, 'model_mapped_error']);
    expect(gateway.provider.tally().calls).toBe(0);
    await untouched();

    await addChannel(model, 'working');
    expect((await caller.chat({ model })).status).toBe(200);
    expect(asked()).toEqual({ working: 1 });
  });
});

test('the parameter override of a channel replaces members of the outgoing body', async () => {
  const model = newModel();
  await addChannel(model, model, { paramOverride: '{"temperature":0,"metadata":{"tier":"a"}}' });
  await caller.chat({ model, temperature: 1, top_p: 0.5 });
  const [request] = gateway.provider.tally().requests;
  expect(request?.body).toMatchObject({ model, temperature: 0, top_p: 0.5, metadata: { tier: 'a' } });
});

describe('a channel that proves to be out of order in live traffic', () => {
  beforeAll(() => gateway.setOption('AutomaticDisableChannelEnabled', 'true'));
  afterAll(() => gateway.setOption('AutomaticDisableChannelEnabled', 'false'));

  const statusOf = async (id: ChannelId) => (await gateway.application.queries.channel(gateway.root, id)).status;
  const switchedOff = (id: ChannelId) =>
    until(async () => {
      const row = await gateway.application.queries.channel(gateway.root, id);
      return row.status === 'auto-disabled' && gateway.application.directory.channel(id)?.status !== 'enabled'
        ? row
        : null;
    });

  test('by status 401 is disabled with reason and time, and the next call uses another channel', async () => {
    const model = newModel();
    const dead = await addChannel(model, 'dead', { priority: 1 });
    await addChannel(model, 'working');
    refuses('dead', 401, { message: 'Incorrect API key provided: sk-upstream-key', code: 'invalid_api_key' });
    const before = Math.floor(Date.now() / 1000);
    const first = await caller.chat({ model });
    expect(first.status).toBe(502);
    expect(first.text).not.toContain('sk-upstream-key');

    const row = await switchedOff(dead);
    expect(row.status_reason).toContain('Incorrect API key provided');
    expect(row.status_reason).not.toContain('sk-upstream-key');
    expect(row.status_time).toBeGreaterThanOrEqual(before);
    expect((await caller.chat({ model })).status).toBe(200);
    expect(asked()).toEqual({ dead: 1, working: 1 });
  });

  test.each([
    ['code', { code: 'account_deactivated' }],
    ['type', { type: 'insufficient_quota' }],
    ['words', { message: 'Sorry: your CREDIT balance is too low today' }],
  ])('by the %s of its error is disabled, too', async (_, error) => {
    const model = newModel();
    const dead = await addChannel(model, 'dead');
    refuses('dead', 429, error);
    await caller.chat({ model });
    await switchedOff(dead);
    expect((await caller.chat({ model })).status).toBe(503);
  });

  test('stays enabled when the text is the caller’s own, repeated by the upstream', async () => {
    const model = newModel();
    const id = await addChannel(model, 'quoting');
    const words = 'You exceeded your current quota';
    refuses('quoting', 400, { message: `I do not understand "${words}"` });
    const messages = [{ role: 'user', content: `Translate: ${words}!` }];
    expect((await caller.chat({ model, messages })).status).toBe(400);
    // Said by the upstream itself they count.
    const [other, unasked] = [newModel(), 'out-of-money'];
    const dead = await addChannel(other, unasked);
    refuses(unasked, 400, { message: words });
    await caller.chat({ model: other });
    await switchedOff(dead);
    expect(await statusOf(id)).toBe('enabled');
  });

  test('stays enabled where the channel forbids disabling, and for unrelated errors', async () => {
    const [guarded, model] = [newModel(), newModel()];
    const kept = await addChannel(guarded, 'dead', { autoBan: false });
    const busy = await addChannel(model, 'busy');
    refuses('dead', 401);
    refuses('busy', 500);
    for (let call = 0; call < 3; call++) {
      expect((await caller.chat({ model: guarded })).status).toBe(502);
      expect((await caller.chat({ model })).status).toBe(500);
    }
    // A later channel is switched off while these two stay on: the reports before it have been dealt with.
    const last = newModel();
    const dead = await addChannel(last, 'dead');
    await caller.chat({ model: last });
    await switchedOff(dead);
    expect([await statusOf(kept), await statusOf(busy)]).toEqual(['enabled', 'enabled']);
  });

  test('keeps its manual status when it was disabled by hand meanwhile', async () => {
    const model = newModel();
    const id = await addChannel(model, 'dead');
    gateway.provider.script('dead', { kind: 'refuse', status: 401, firstByteDelayMs: 100 });
    const call: Promise<Answer> = caller.chat({ model });
    await until(async () => (asked().dead === 1 ? true : null));
    const { application, root } = gateway;
    await application.visible(await application.channels.setEnabled(root, id, false));
    expect((await call).status).toBe(502);
    const later = newModel();
    const other = await addChannel(later, 'dead');
    gateway.provider.script('dead', { kind: 'refuse', status: 401 });
    await caller.chat({ model: later });
    await switchedOff(other);
    expect(await statusOf(id)).toBe('disabled');
  });
});
