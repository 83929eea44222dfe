import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { RepairAsked } from '../../../src/application/audit/repair/repair-desk.js';
import { handle } from '../../../src/application/handle.js';
import { auditRepair } from '../../../src/cli/audit/repair.js';
import { auditWhatIf } from '../../../src/cli/audit/what-if.js';
import { type CommandDatabase, withDatabase } from '../../../src/cli/database.js';
import { type CallSettled, callDecider } from '../../../src/domain/call/call.js';
import { type Recorded, streams } from '../../../src/domain/events/events.js';
import { type ApiKeyId, CallId, type RepairId, TaskId, UserId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import type { ModelPrice } from '../../../src/domain/pricing/records/model-price.js';
import type { TaskFailed } from '../../../src/domain/task/task.js';
import { taskRefundOf } from '../../../src/domain/task/task-refund.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { openCallers } from '../../support/callers/callers.js';
import { expectLedgersToAgree, ledgerAtRest } from '../../support/gateway/ledger-snapshot.js';
import { receiptsOfAll } from '../../support/gateway/receipts.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';

/* An administrator has typed a wrong price, and calls were charged by it: found, previewed, corrected, and undone. */

const right: ModelPrice = { tokens: { input: { usd: '20' }, output: { usd: '40' } } };
const tenfold: ModelPrice = { tokens: { input: { usd: '200' }, output: { usd: '400' } } };
const tenth: ModelPrice = { tokens: { input: { usd: '2' }, output: { usd: '4' } } };
const model = 'gpt-4o-mini';

let gateway: TestGateway;
let callers: ReturnType<typeof openCallers>;
/** When the right price held. */
let heldAt: { at: Instant };

beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.addChannel();
  callers = openCallers(gateway.url);
  await gateway.setPrice(model, [right]);
  heldAt = { at: Instant(Date.now()) };
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
});

const inDatabase = <Result>(work: (database: CommandDatabase) => Promise<Result>) =>
  withDatabase(gateway.config, quietLog, work);

const booksAgree = () =>
  inDatabase(async (database) => {
    const books = await ledgerAtRest(database);
    await expectLedgersToAgree(database, books);
    return books;
  });

const call = async (apiKey: string): Promise<CallId> => {
  const { status, requestId } = await callers.with(apiKey).chat({ model, max_tokens: 20 });
  expect(status).toBe(200);
  return CallId(requestId);
};

let from: Instant;
beforeEach(() => {
  from = Instant(Date.now());
});

/** Calls of now, by the price that held before. */
const asked = (change: Partial<RepairAsked['scope']> = {}, isCharging = false): RepairAsked => ({
  scope: {
    ...{ from, to: Instant(Date.now() + 60_000), model: null, userId: null, group: null },
    ...{ channelId: null, apiKeyId: null, ...change },
  },
  ...{ isCharging, heldAt, file: null, groupRatios: [] },
});

async function whileWrong(price: ModelPrice, work: () => Promise<unknown>): Promise<void> {
  await gateway.setPrice(model, [price]);
  await work();
  await gateway.setPrice(model, [right]);
  // Whatever is previewed is of calls that the log has.
  await inDatabase(ledgerAtRest);
}

const preview = (request: RepairAsked) => gateway.application.repairs.preview(gateway.root, request);
const post = async (request: RepairAsked) => {
  const { order } = await preview(request);
  return gateway.application.repairs.post(gateway.root, order.digest);
};
const undo = (id: RepairId) => gateway.application.repairs.undo(gateway.root, id);

const ended = (id: RepairId, state: 'posted' | 'undone') =>
  until(async () => {
    const row = await gateway.application.repairs.single(gateway.root, id);
    return row?.state === state ? row : null;
  });

const charged = async (user: TestUser): Promise<number> => (await booksAgree()).users.get(user.actor.id)?.charged ?? 0;

test('charges by a wrong price are given back once, however often a repair is posted, and taken again by its undo', async () => {
  const alice = await gateway.addUser(50_000_000, 'alice');
  const bob = await gateway.addUser(50_000_000, 'bob');
  const [key, other] = [await gateway.addApiKey(alice, { quota: 10_000_000 }), await gateway.addApiKey(bob)];
  await call(key);
  const fair = await charged(alice);
  await whileWrong(tenfold, async () => {
    for (const apiKey of [key, key, other]) await call(apiKey);
  });
  const wrong = await charged(alice);
  expect(wrong).toBeGreaterThan(fair * 15);

  const found = await preview(asked());
  expect(found).toMatchObject({ seen: 4, left: { calls: 0 }, unpriced: 0 });
  expect(found.order.planned).toMatchObject({ calls: 3, taken: '0' });
  expect(found.rows.map(({ userId, calls }) => [userId, calls])).toEqual([
    [alice.actor.id, 2],
    [bob.actor.id, 1],
  ]);
  const { digest } = found.order;
  const posting = () => gateway.application.repairs.post(gateway.root, digest);
  const posted = await posting();
  const id = digest.slice(0, 24);
  expect([posted.id, (await posting()).id]).toEqual([id, id]);
  const row = await ended(posted.id, 'posted');
  expect(row).toMatchObject({ posted: { calls: 3, taken: 0n }, changed: 0, is_abandoned: false });
  expect(String(row.posted.given)).toBe(found.order.planned.given);
  expect(await charged(alice)).toBe(fair * 3);
  expect((await preview(asked())).order.planned.calls).toBe(0);

  const receipts = await receiptsOfAll(gateway);
  expect(receipts.wrong).toEqual([]);

  await undo(posted.id);
  expect(await ended(posted.id, 'undone')).toMatchObject({ undone: { calls: 3, given: 0n }, undo_changed: 0 });
  expect(await charged(alice)).toBe(wrong);
  await undo(posted.id);
  await ended((await post(asked())).id, 'posted');
  expect(await charged(alice)).toBe(fair * 3);
  await expect(gateway.application.repairs.post(gateway.root, 'f'.repeat(64))).rejects.toMatchObject({
    code: 'repair-preview-outdated',
  });
});

describe('of calls that were charged too little,', () => {
  test('payers pay the difference if root charges it, as far as balance and key allow, and the rest is uncovered', async () => {
    const [rich, poor] = [await gateway.addUser(50_000_000, 'rich'), await gateway.addUser(50_000_000, 'poor')];
    const limited = await gateway.addApiKey(rich, { quota: 10_000_000 });
    const empty = await gateway.addApiKey(poor);
    await whileWrong(tenth, async () => {
      for (const apiKey of [limited, empty]) await call(apiKey);
    });
    const before = await charged(rich);
    const left = 7;
    const { application, root } = gateway;
    const spare = (await gateway.available(poor)) - left;
    await application.visible(await application.users.adjustQuota(root, poor.actor.id as UserId, { delta: -spare }));

    const kept = await preview(asked());
    expect(kept).toMatchObject({ left: { calls: 2 }, order: { planned: { calls: 0 } } });
    await expect(post(asked())).rejects.toMatchObject({ details: { field: 'digest' } });

    const { id } = await post(asked({}, true));
    const row = await ended(id, 'posted');
    expect(row).toMatchObject({ posted: { calls: 2, given: 0n }, planned: { calls: 2 } });
    expect(await gateway.available(poor)).toBe(0);
    expect(await charged(rich)).toBeGreaterThan(before * 9);
    expect(await charged(poor)).toBe(before + left);
    await undo(id);
    await ended(id, 'undone');
    expect([await charged(rich), await charged(poor)]).toEqual([before, before]);
    expect(await gateway.available(poor)).toBe(left);
  });
});

test('who is gone is given back in the books and charged nothing more, and a key that is gone limits nothing', async () => {
  const [gone, keyless] = [await gateway.addUser(50_000_000, 'gone'), await gateway.addUser(50_000_000, 'keyless')];
  const keys = [await gateway.addApiKey(gone), await gateway.addApiKey(keyless, { quota: 9_000_000 })];
  await whileWrong(tenfold, () => call(keys[0] ?? ''));
  await whileWrong(tenth, async () => {
    for (const apiKey of keys) await call(apiKey);
  });
  const { application, root } = gateway;
  const { apiKeys } = await booksAgree();
  const lastKey = Math.max(...apiKeys.keys()) as ApiKeyId;
  await application.visible(await application.apiKeys.remove(keyless.actor, lastKey));
  await application.visible(await application.users.erase(root, UserId(gone.actor.id)));
  const [before, paid] = [await charged(gone), await charged(keyless)];
  const { id } = await post(asked({}, true));
  expect(await ended(id, 'posted')).toMatchObject({ posted: { calls: 3 }, changed: 0 });
  expect(await charged(gone)).toBeLessThan(before / 5);
  expect(await charged(keyless)).toBeGreaterThan(paid * 9);
});

test('a preview that is posted twice at once is one repair, and another one of the same calls corrects none again', async () => {
  const dave = await gateway.addUser(50_000_000, 'dave');
  const key = await gateway.addApiKey(dave);
  await call(key);
  const fair = await charged(dave);
  const calls: CallId[] = [];
  await whileWrong(tenfold, async () => {
    for (let n = 0; n < 3; n++) calls.push(await call(key));
  });
  const { repairs } = gateway.application;
  const userId = UserId(dave.actor.id);
  const [one, other] = [await preview(asked({ userId })), await preview(asked({ userId, model }))];
  expect(other.order.digest).not.toBe(one.order.digest);
  const posting = ({ order }: typeof one) => repairs.post(gateway.root, order.digest);
  const [first, again] = await Promise.all([posting(one), posting(one)]);
  expect(again.id).toBe(first.id);
  // Ordered before the first one has come to its calls, or too late.
  const second = await posting(other).catch(({ code }: { code: string }) => code);
  await ended(first.id, 'posted');
  if (typeof second === 'string') expect(second).toBe('repair-preview-outdated');
  else expect(await ended(second.id, 'posted')).toMatchObject({ posted: { calls: 0 }, changed: 3 });
  const books = await booksAgree();
  expect(calls.map((id) => books.calls.get(id)?.corrected.length)).toEqual([1, 1, 1]);
  expect(await charged(dave)).toBe(fair * 4);
});

test('a refund outdates a preview, and calls of a channel that is gone are corrected as others are', async () => {
  const erin = await gateway.addUser(50_000_000, 'erin');
  const key = await gateway.addApiKey(erin);
  const own = await gateway.addChannel({ models: ['gpt-4o'] });
  await call(key);
  const fair = await charged(erin);
  let failed = '' as CallId;
  await whileWrong(tenfold, async () => {
    failed = await call(key);
    await call(key);
  });
  const { application, root, store } = gateway;
  const scope = { userId: UserId(erin.actor.id) };
  const outdated = await preview(asked(scope));
  expect(outdated).toMatchObject({ seen: 3, order: { planned: { calls: 2 } } });
  const stream = streams.call(failed);
  const settled = (await store.readStream(stream)).find(({ event }) => event.type === 'CallSettled');
  const facts = { taskId: TaskId(1), platform: 'suno', action: 'MUSIC', publicId: 'task_1' };
  const event = taskRefundOf(settled as Recorded<CallSettled>, { facts, reason: 'upstream' } as TaskFailed);
  const refunded = await handle(store, application.clock)(callDecider, stream, { type: 'Refund', event });
  await application.visible(refunded.position);
  await expect(application.repairs.post(root, outdated.order.digest)).rejects.toMatchObject({
    code: 'repair-preview-outdated',
  });
  const [served] = (await preview(asked(scope))).corrections;
  if (served === undefined) throw new Error('nothing to correct');
  const { channelId } = served.settlement;
  await application.visible(await application.channels.remove(root, [channelId]));
  const { id } = await post(asked({ ...scope, channelId }));
  expect(await ended(id, 'posted')).toMatchObject({ posted: { calls: 1 }, changed: 0 });
  expect(await charged(erin)).toBe(fair * 2);
  await application.visible(await application.channels.remove(root, [own]));
  await gateway.addChannel();
});

test('payers whose balance is being spent by calls meanwhile are charged no more than they have', async () => {
  const frank = await gateway.addUser(50_000_000, 'frank');
  const key = await gateway.addApiKey(frank);
  const many = Array.from({ length: 24 }, () => key);
  await whileWrong(tenth, () => Promise.all(many.map(call)));
  const request = asked({ userId: UserId(frank.actor.id) }, true);
  const found = await preview(request);
  const { application, root } = gateway;
  // Of what is missing it is half: calls and corrections take it from each other.
  const left = Math.floor(Number(found.order.planned.taken) / 2);
  const spare = (await gateway.available(frank)) - left;
  await application.visible(await application.users.adjustQuota(root, frank.actor.id as UserId, { delta: -spare }));
  const before = await charged(frank);
  const { id } = await post(request);
  let isOver = false;
  const end = ended(id, 'posted').finally(() => {
    isOver = true;
  });
  // By a cheaper model, so that there is something left when the first correction comes.
  const spend = () => callers.with(key).chat({ model: 'gpt-4o', max_tokens: 20 });
  const statuses = new Set<number>();
  while (!isOver) for (const { status } of await Promise.all([spend(), spend(), spend()])) statuses.add(status);
  expect([...statuses]).toContain(200);
  expect(await end).toMatchObject({ posted: { calls: 24, given: 0n }, changed: 0 });
  const books = await booksAgree();
  const { given = 0, charged: spent = 0 } = books.users.get(frank.actor.id) ?? {};
  expect(spent).toBeGreaterThan(before);
  expect(spent).toBeLessThanOrEqual(given);
  expect(await gateway.available(frank)).toBe(given - spent);
});

test('a repair over GraphQL is posted and undone by root, and refused to auditors and administrators', async () => {
  const grace = await gateway.addUser(50_000_000, 'grace');
  const key = await gateway.addApiKey(grace);
  const position = await gateway.store.head();
  await whileWrong(tenfold, () => call(key));
  const { application, root, url, rootPassword } = gateway;
  const send = async (path: string, body: JsonObject, headers: Record<string, string> = {}) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-tallygate-client': 'test', ...headers },
      body: JSON.stringify(body),
    });
  const signedIn = async (username: string, password: string, id: number) => {
    const login = await send('/api/user/login', { username, password });
    const cookie = login.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
    return async (query: string) => {
      const answer = await send('/graphql', { query }, { cookie, 'new-api-user': String(id) });
      return (await answer.json()) as { data: Record<string, Record<string, string>>; errors?: object[] };
    };
  };
  const staff = async (name: string, action: 'promote' | 'appoint-auditor') => {
    const { actor, username, password } = await gateway.addUser(0, name);
    await application.visible(await application.users.manage(root, actor.id, action));
    return signedIn(username, password, actor.id);
  };
  const asRoot = await signedIn('root', rootPassword, root.id);
  const [auditor, administrator] = [await staff('heidi', 'appoint-auditor'), await staff('ivan', 'promote')];
  const second = (at: number) => Math.floor(at / 1000);
  const times = `from: ${second(from)}, to: ${second(Date.now()) + 60}, heldAt: { position: ${position} }`;
  const previewing = `{ repairPreview(input: { ${times}, userId: "${grace.actor.id}" }) { digest } }`;
  const { digest } = (await asRoot(previewing)).data.repairPreview ?? {};
  expect((await auditor(previewing)).data.repairPreview).toEqual({ digest });
  const posting = `mutation { postPriceRepair(digest: "${digest}") { id } }`;
  const undoing = `mutation { undoPriceRepair(id: "${digest?.slice(0, 24)}") { state } }`;
  const wrong = await charged(grace);
  const forbidden = [expect.objectContaining({ extensions: expect.objectContaining({ code: 'role-too-low' }) })];
  for (const somebody of [auditor, administrator]) expect((await somebody(posting)).errors).toEqual(forbidden);
  const id = (await asRoot(posting)).data.postPriceRepair?.id as RepairId;
  await ended(id, 'posted');
  expect(await charged(grace)).toBeLessThan(wrong / 5);
  for (const somebody of [auditor, administrator]) expect((await somebody(undoing)).errors).toEqual(forbidden);
  await asRoot(undoing);
  await ended(id, 'undone');
  expect(await charged(grace)).toBe(wrong);
});

describe('on the command line', () => {
  const run = async (command: typeof auditRepair, ...args: string[]): Promise<string> => {
    const printed: string[] = [];
    const log = vi.spyOn(console, 'log').mockImplementation((line: string) => void printed.push(line));
    try {
      await command({ config: gateway.config, log: quietLog, args });
    } finally {
      log.mockRestore();
    }
    return printed.join('\n');
  };

  test('a repair is previewed, posted by its digest, listed and undone, and what-if counts what was corrected', async () => {
    const carol = await gateway.addUser(50_000_000, 'carol');
    const key = await gateway.addApiKey(carol);
    await whileWrong(tenfold, () => call(key));
    const times = ['--from', new Date(from).toISOString(), '--to', new Date(Date.now() + 60_000).toISOString()];
    const held = [...times, '--held-at', new Date(heldAt.at).toISOString(), '--user', String(carol.actor.id)];
    const shown = await run(auditRepair, 'preview', ...held);
    const [, digest = ''] = /Digest: ([0-9a-f]{64})$/.exec(shown) ?? [];
    expect(shown).toContain('1 of 1 calls are to be corrected');
    const printed = await run(auditRepair, 'post', ...held, '--digest', digest);
    expect(printed).toContain(`${digest.slice(0, 24)} of `);
    expect(printed).toContain('posted; 1 of 1 calls');
    const paid = await charged(carol);
    const sums = JSON.parse(await run(auditWhatIf, ...times, '--json')) as { actual: string; calls: number };
    expect(sums).toMatchObject({ calls: 1, actual: String(paid) });
    expect(await run(auditRepair, 'list')).toContain(digest.slice(0, 24));
    expect(await run(auditRepair, 'undo', '--repair', digest.slice(0, 24))).toContain('undone');
    expect(await charged(carol)).toBeGreaterThan(paid * 9);
    await expect(run(auditRepair, 'post', ...held, '--digest', '0'.repeat(64))).rejects.toThrow(/Preview it again/);
    await expect(run(auditRepair, 'preview', ...times)).rejects.toThrow(/Give the right prices/);
  });
});
