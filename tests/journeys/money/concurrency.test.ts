import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { withDatabase } from '../../../src/cli/database.js';
import type { ChannelId } from '../../../src/domain/kernel/ids.js';
import { type Answer, type Caller, type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { ledgerAtRest } from '../../support/gateway/ledger-snapshot.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';
import { type PausedUpstream, startPausedUpstream } from '../../support/upstreams/paused-upstream.js';
import { startUpstream } from '../../support/upstreams/upstream.js';

/* Upstreams have room for so many calls. Nobody gets all of it, nobody waits for it, and a refusal costs nothing. */

/** Enough to hold the most that all calls under way could cost. */
const balance = 1_000_000_000;
const capacity = 8;
const tokens = { prompt: 10, completion: 5 };

let gateway: TestGateway;
let callers: Callers;
let upstream: PausedUpstream;
let user: TestUser;
let caller: Caller;
let models = 0;
let open: Promise<Answer>[] = [];

const newModel = (): string => `model-${++models}`;
const available = (who: TestUser, quota: number) =>
  until(async () => ((await gateway.available(who)) === quota ? true : null));

/** A call that is under way, or an answer that came at once. */
async function begin(by: Caller, model: string, at = upstream): Promise<Answer | 'under way'> {
  const before = at.waiting();
  const call = by.chat({ model });
  let answer: Answer | null = null;
  void call.then((came) => {
    answer = came;
  });
  open.push(call);
  return until(async () => answer ?? (at.waiting() > before ? 'under way' : null));
}

const beginAll = async (count: number, by: Caller, model: string): Promise<(Answer | 'under way')[]> => {
  const begun: (Answer | 'under way')[] = [];
  for (let index = 0; index < count; index++) begun.push(await begin(by, model));
  return begun;
};

const expectRefused = (answer: Answer | 'under way' | undefined, code: string): void => {
  if (answer === undefined || answer === 'under way') throw new Error('the call was not refused');
  expect([answer.status, errorIn(answer).code, errorIn(answer).type]).toEqual([429, code, 'gateway_error']);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
};

/** Ends the calls under way; all of them must have been answered. */
const finish = async (...others: PausedUpstream[]): Promise<Answer[]> => {
  for (const one of [upstream, ...others]) one.answer(tokens);
  const answers = await Promise.all(open);
  open = [];
  return answers;
};

async function start(processes: { readonly workers?: number }): Promise<void> {
  gateway = await startTestGateway({ UPSTREAM_CONNECTIONS: String(capacity), RELAY_TIMEOUT: '600' }, processes);
  callers = openCallers(gateway.url);
  await gateway.setOption('SelfUseModeEnabled', 'true');
}
async function stop(): Promise<void> {
  await callers?.close();
  await gateway?.stop();
}
beforeEach(async () => {
  upstream = await startPausedUpstream();
  user = await gateway.addUser(balance);
  caller = callers.with(await gateway.addApiKey(user));
});
afterEach(async () => {
  await finish();
  await upstream.stop();
});

describe('the connections to a host', () => {
  // Room at a host is for each process that serves calls, however many there are.
  beforeAll(() => start({ workers: 1 }));
  afterAll(stop);

  test('are never all taken by one user, with any number of keys; refused calls are not charged and may be repeated', async () => {
    const model = newModel();
    await gateway.addChannel({ models: [model], baseUrl: upstream.url });
    const begun = await beginAll(3, caller, model);
    const otherKey = callers.with(await gateway.addApiKey(user));
    begun.push(...(await beginAll(3, otherKey, model)));
    expect(begun.slice(0, 4)).toEqual(Array(4).fill('under way'));
    for (const refused of begun.slice(4)) expectRefused(refused, 'upstream_saturated');

    const other = callers.with(await gateway.addApiKey(await gateway.addUser(balance)));
    expect(await begin(other, model)).toBe('under way');

    const answers = await finish();
    const charged = 4 * Math.round((tokens.prompt + tokens.completion) * 37.5);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    await available(user, balance - charged);
    expect(await begin(caller, model)).toBe('under way');
  });

  test('are released when a caller disconnects in the middle of a stream', async () => {
    const model = newModel();
    await gateway.addChannel({ models: [model], baseUrl: gateway.provider.url });
    gateway.provider.reset();
    for (let index = 0; index < 3 * capacity; index++) {
      const answer = await until(async () => {
        const came = await caller.chat({ model, stream: true }, { enough: (text) => text.includes('data: ') });
        return came.status === 200 ? came : null;
      });
      expect(answer.text).toContain('data: ');
    }
  });

  test('when full are skipped for another host, which is not a retry', async () => {
    const elsewhere = await startPausedUpstream();
    const model = newModel();
    await gateway.addChannel({ models: [model], baseUrl: upstream.url, priority: 1 });
    await gateway.addChannel({ models: [model], baseUrl: elsewhere.url });
    expect(await beginAll(4, caller, model)).toEqual(Array(4).fill('under way'));
    expect(await begin(caller, model, elsewhere)).toBe('under way');
    expect((await finish(elsewhere)).map(({ status }) => status)).toEqual(Array(5).fill(200));
    await elsewhere.stop();
  });
});

describe('a node, of one process or several', () => {
  beforeAll(() => start({}));
  afterAll(stop);

  test('limits the in-flight calls of a channel to its setting', async () => {
    const model = newModel();
    await gateway.addChannel({ models: [model], baseUrl: upstream.url, setting: '{"max_concurrency":2}' });
    const begun = await beginAll(3, caller, model);
    expect(begun.slice(0, 2)).toEqual(['under way', 'under way']);
    expectRefused(begun[2], 'upstream_saturated');
    await finish();
    expect(await begin(caller, model)).toBe('under way');
  });

  /** Nobody can know any more what it was. */
  const spoilKeyOf = (id: ChannelId) =>
    withDatabase(gateway.config, quietLog, ({ pool }) =>
      pool.query("update vault_secrets set sealed = sealed || '\\x00' where id = $1", [
        gateway.application.directory.channel(id)?.secrets.key,
      ]),
    );

  test('charges nothing for a call that fails unexpectedly after a channel has refused it', async () => {
    const refusing = await startUpstream((_call, response) => response.writeHead(500).end('{}'));
    const model = newModel();
    await gateway.setOption('RetryTimes', '1');
    await gateway.addChannel({ models: [model], baseUrl: refusing.url, priority: 1 });
    await spoilKeyOf(await gateway.addChannel({ models: [model], baseUrl: upstream.url }));
    const { status, requestId } = await caller.chat({ model });
    expect(status).toBe(500);
    const call = await withDatabase(gateway.config, quietLog, async (database) =>
      (await ledgerAtRest(database)).calls.get(requestId),
    );
    expect(call?.released).toMatchObject([{ reason: 'internal', suspense: 0 }]);
    await gateway.setOption('RetryTimes', '0');
    await refusing.stop();
  });

  test('keeps the slots of a channel whose key cannot be read: each call gets that error, and none gets a full channel', async () => {
    const model = newModel();
    const id = await gateway.addChannel({ models: [model], baseUrl: upstream.url, setting: '{"max_concurrency":1}' });
    await spoilKeyOf(id);
    for (let call = 0; call < 2; call++) expect((await caller.chat({ model })).status).toBe(500);
  });

  test('limits the in-flight calls of a key to the option, while others of its user have their own', async () => {
    const model = newModel();
    await gateway.addChannel({ models: [model], baseUrl: upstream.url });
    await gateway.setOption('general_setting.api_key_concurrency', '1');
    expect(await begin(caller, model)).toBe('under way');
    expectRefused(await begin(caller, model), 'concurrency_limit_exceeded');
    expect(await begin(callers.with(await gateway.addApiKey(user)), model)).toBe('under way');
    await finish();
    expect(await begin(caller, model)).toBe('under way');
    await gateway.setOption('general_setting.api_key_concurrency', '0');
  });
});
