import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { withDatabase } from '../../../src/cli/database.js';
import type { CallOutcome } from '../../../src/domain/call/call.js';
import { openReadModels } from '../../../src/projections/read-models.js';
import {
  type Answer,
  type Caller,
  type Callers,
  errorIn,
  isWholeStream,
  openCallers,
} from '../../support/callers/callers.js';
import {
  expectLedgersToAgree,
  type LedgerSnapshot,
  ledgerAtRest,
  ledgerOf,
  ownedBy,
  readLog,
} from '../../support/gateway/ledger-snapshot.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { balanceOf } from '../../support/postgres/ledger-reads.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';
import { type PausedUpstream, startPausedUpstream } from '../../support/upstreams/paused-upstream.js';

/* One quota per token in and out, so that a call's price can be read off its tokens. */

let gateway: TestGateway;
let held: PausedUpstream;
let callers: Callers;

const models = ['metered', 'broken', 'cut', 'endless', 'slow'];
const maxTokens = 50;

beforeAll(async () => {
  // They all come from one address, faster than their bodies can be read.
  gateway = await startTestGateway({ MAX_UNFINISHED_BODIES: '200' });
  held = await startPausedUpstream();
  callers = openCallers(gateway.url);
  const ones = JSON.stringify(Object.fromEntries([...models, 'held', 'retried'].map((model) => [model, 1])));
  await gateway.setOption('ModelRatio', ones);
  await gateway.setOption('CompletionRatio', ones);
  // Cached input is the dearest there is here: a call can cost all that is held for it.
  await gateway.setOption('CacheRatio', '{"metered":2,"held":2}');
  await gateway.setOption('RetryTimes', '1');
  await gateway.setOption('DisplayInCurrencyEnabled', 'false');
  await gateway.addChannel({ name: 'upstream', models });
  await gateway.addChannel({ name: 'held', models: ['held'], baseUrl: held.url });
  await gateway.addChannel({ name: 'out', models: ['retried'], modelMapping: '{"retried":"broken"}', priority: 9 });
  await gateway.addChannel({ name: 'fallback', models: ['retried'], modelMapping: '{"retried":"metered"}' });
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await held?.stop();
});
beforeEach(() => gateway.provider.reset());

const withBooks = <Result>(work: (books: LedgerSnapshot) => Promise<Result> | Result): Promise<Result> =>
  withDatabase(gateway.config, quietLog, async (database) => {
    const books = await ledgerAtRest(database);
    await expectLedgersToAgree(database, books);
    return work(books);
  });

/** The least a call like this is admitted with: taken from the refusal of somebody who has next to nothing. */
async function minFor(model: string): Promise<number> {
  const refused = await callers
    .with(await gateway.addApiKey(await gateway.addUser(1)))
    .chat({ model, max_tokens: maxTokens });
  return Number(/needed (\d+)/.exec(String(errorIn(refused).message))?.[1]);
}

/** What the gate holds for a call like this, and how many prompt tokens it counts: taken from a rich user's call. */
async function reservationOf(model: string): Promise<{ reserved: number; promptTokens: number }> {
  const caller = callers.with(await gateway.addApiKey(await gateway.addUser(1_000_000)));
  const call = caller.chat({ model, max_tokens: maxTokens });
  if (model === 'held') {
    await until(async () => (held.waiting() === 1 ? true : null));
    held.answer({ prompt: 1, completion: 1 });
  }
  const { requestId } = await call;
  return withDatabase(gateway.config, quietLog, async (database) => {
    const [event] = ledgerOf(await readLog(database)).calls.get(requestId)?.reserved ?? [];
    if (event === undefined) throw new Error('the call was not reserved');
    return { reserved: event.reserved, promptTokens: event.promptTokens };
  });
}

/** The lowest balances seen while `work` runs, holds deducted: at the gate and in the ledger. */
const lowestDuring = (user: TestUser, work: () => Promise<unknown>) =>
  withDatabase(gateway.config, quietLog, async (database) => {
    const db = openReadModels(database.pool);
    let working = true;
    const watch = async (look: () => Promise<number>): Promise<{ lowest: number; samples: number }> => {
      const seen: number[] = [];
      while (working) {
        seen.push(await look());
        await pause(1);
      }
      seen.push(await look());
      return { lowest: Math.min(...seen), samples: seen.length };
    };
    const watching = Promise.all([
      watch(() => gateway.available(user)),
      watch(async () => (await balanceOf(db, user.actor.id)).available),
    ]);
    try {
      await work();
      // The ledger is looked at for the last time when it knows all of it.
      await ledgerAtRest(database);
    } finally {
      working = false;
    }
    const [gate, ledger] = await watching;
    return { gate, ledger };
  });

const countOf = (answers: readonly Answer[], status: number, code?: string): number =>
  answers.filter((answer) => answer.status === status && (code === undefined || errorIn(answer).code === code)).length;

const at200 = <Result>(call: () => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: 200 }, call));

describe('200 concurrent calls on a balance for 10', () => {
  test('reach the provider 10 times and spend all of it; the rest are refused, and no balance is ever negative', async () => {
    const { reserved, promptTokens } = await reservationOf('metered');
    expect(reserved).toBeGreaterThanOrEqual(promptTokens + maxTokens);
    gateway.provider.reset();
    // Each call costs what was held for it: what the ten spend leaves nothing for an eleventh, early or late.
    const prompt = (reserved - maxTokens) / 2;
    gateway.provider.script('metered', { tokens: { prompt, cached: prompt, completion: maxTokens } });
    const user = await gateway.addUser(10 * reserved);
    const caller = callers.with(await gateway.addApiKey(user));

    let answers: Answer[] = [];
    const { gate, ledger } = await lowestDuring(user, async () => {
      answers = await at200(() => caller.chat({ model: 'metered', max_tokens: maxTokens }));
    });

    expect(countOf(answers, 200)).toBe(10);
    expect(countOf(answers, 403, 'insufficient_user_quota')).toBe(190);
    expect(gateway.provider.tally().calls).toBe(10);
    expect(gate.samples).toBeGreaterThan(10);
    expect(ledger.samples).toBeGreaterThan(3);
    expect([gate.lowest, ledger.lowest]).toEqual([0, 0]);
    await withBooks((books) => expect(ownedBy(books, user.actor.id)).toBe(0));
  });

  test('count the reservations of ten in-flight calls, though in the end they cost less', async () => {
    const { reserved } = await reservationOf('held');
    // Too little for an eleventh: it would not even pay for its output.
    const user = await gateway.addUser(10 * reserved + maxTokens);
    const caller = callers.with(await gateway.addApiKey(user));

    let refused = 0;
    let answers: Answer[] = [];
    const { gate, ledger } = await lowestDuring(user, async () => {
      const calls = at200(async () => {
        const answer = await caller.chat({ model: 'held', max_tokens: maxTokens });
        if (answer.status === 403) refused++;
        return answer;
      });
      await until(async () => (refused === 190 ? true : null));
      await until(async () => (held.waiting() === 10 ? true : null));
      expect(await gateway.available(user)).toBe(maxTokens);
      held.answer({ prompt: 3, completion: 4 });
      answers = await calls;
    });

    expect(countOf(answers, 200)).toBe(10);
    expect(countOf(answers, 403, 'insufficient_user_quota')).toBe(190);
    expect(gate.lowest).toBe(maxTokens);
    expect(ledger.lowest).toBeGreaterThanOrEqual(maxTokens);
    await withBooks((books) => expect(ownedBy(books, user.actor.id)).toBe(10 * reserved + maxTokens - 10 * 7));
  });

  test('are limited in the same way for an API key whose owner has more', async () => {
    const { reserved } = await reservationOf('held');
    const owner = await gateway.addUser(1_000_000);
    const caller = callers.with(await gateway.addApiKey(owner, { quota: 10 * reserved }));

    let refused = 0;
    const calls = at200(async () => {
      const answer = await caller.chat({ model: 'held', max_tokens: maxTokens });
      if (answer.status === 403) refused++;
      return answer;
    });
    await until(async () => (refused === 190 ? true : null));
    await until(async () => (held.waiting() === 10 ? true : null));
    const prompt = (reserved - maxTokens) / 2;
    held.answer({ prompt, cached: prompt, completion: maxTokens });
    const answers = await calls;
    expect(countOf(answers, 200)).toBe(10);
    expect(countOf(answers, 403, 'pre_consume_token_quota_failed')).toBe(190);

    expect(await caller.chat({ model: 'held', max_tokens: maxTokens })).toMatchObject({ status: 401 });
    await withBooks((books) => expect(ownedBy(books, owner.actor.id)).toBe(1_000_000 - 10 * reserved));
  });
});

describe('two users, three keys and every possible outcome of a call', () => {
  interface Ending {
    readonly name: string;
    /** Resolves with the answer, as far as it came; null when there was none to see. */
    readonly call: (caller: Caller) => Promise<Answer | null>;
    readonly sees: (answer: Answer | null) => boolean;
    readonly outcome: CallOutcome | 'released';
    readonly channelsTried: number;
    /** null: counted here, from what was delivered. */
    readonly charge: number | null;
  }

  const tokens = { prompt: 20, completion: 30 };
  const answered = (answer: Answer | null) => answer?.status === 200;
  const streamed = (answer: Answer | null) => answered(answer) && answer !== null && isWholeStream(answer);
  let leaving: Promise<unknown> = Promise.resolve();
  /** An answer that takes a while, and a caller who does not wait for it once the provider has begun. */
  const leaveEarly = (caller: Caller): Promise<null> => {
    // One at a time: what the provider has begun is then this caller's.
    const left = leaving.then(() => leaveOnceBegun(caller));
    leaving = left;
    return left;
  };
  const leaveOnceBegun = async (caller: Caller): Promise<null> => {
    const before = gateway.provider.tally().byModel.slow ?? 0;
    const gone = new AbortController();
    const call = caller.chat({ model: 'slow' }, { signal: gone.signal }).then(
      () => Promise.reject(new Error('the answer came before its caller left')),
      () => null,
    );
    await until(async () => ((gateway.provider.tally().byModel.slow ?? 0) > before ? true : null));
    gone.abort();
    return call;
  };

  const endings: readonly Ending[] = [
    {
      name: 'a JSON answer',
      call: (caller) => caller.chat({ model: 'metered' }),
      sees: answered,
      outcome: 'completed',
      channelsTried: 1,
      charge: 50,
    },
    {
      name: 'a stream',
      call: (caller) => caller.chat({ model: 'metered', stream: true }),
      sees: streamed,
      outcome: 'completed',
      channelsTried: 1,
      charge: 50,
    },
    {
      name: 'an answer of the second channel',
      call: (caller) => caller.chat({ model: 'retried' }),
      sees: answered,
      outcome: 'completed',
      channelsTried: 2,
      charge: 50,
    },
    {
      name: 'a refusal of every channel',
      call: (caller) => caller.chat({ model: 'broken' }),
      sees: (answer) => answer?.status === 500,
      outcome: 'released',
      channelsTried: 2,
      charge: 0,
    },
    {
      name: 'a stream the provider resets',
      call: (caller) => caller.chat({ model: 'cut', stream: true }),
      sees: (answer) => answered(answer) && !streamed(answer),
      outcome: 'upstream-broke',
      channelsTried: 1,
      charge: null,
    },
    {
      name: 'a stream the caller leaves',
      call: (caller) =>
        caller.chat({ model: 'endless', stream: true }, { enough: (text) => text.split('\n\n').length > 8 }),
      sees: (answer) => answered(answer) && !streamed(answer),
      outcome: 'caller-left',
      channelsTried: 1,
      charge: null,
    },
    {
      name: 'a JSON answer its caller does not wait for',
      call: leaveEarly,
      sees: (answer) => answer === null,
      outcome: 'caller-left',
      channelsTried: 1,
      charge: 50,
    },
  ];

  const setScripts = () => {
    gateway.provider.script('metered', { tokens });
    gateway.provider.script('broken', { kind: 'refuse', status: 500 });
    gateway.provider.script('cut', { chunks: 50, chunkDelayMs: 2, after: { frames: 8, then: 'reset' } });
    gateway.provider.script('endless', { endless: true, chunkDelayMs: 2 });
    gateway.provider.script('slow', { firstByteDelayMs: 300, tokens });
  };

  test('charge each call once or not at all, and all accounts agree', async () => {
    setScripts();
    const [alice, bob] = [await gateway.addUser(1_000_000), await gateway.addUser(500_000)];
    const keys = [
      await gateway.addApiKey(alice),
      await gateway.addApiKey(alice, { quota: 500_000 }),
      await gateway.addApiKey(bob),
    ];
    const rounds = 6;
    const seen: { ending: Ending; answer: Answer | null }[] = [];
    await Promise.all(
      keys.flatMap((key) =>
        endings.map(async (ending) => {
          for (let round = 0; round < rounds; round++)
            seen.push({ ending, answer: await ending.call(callers.with(key)) });
        }),
      ),
    );

    for (const { ending, answer } of seen)
      expect([ending.name, ending.sees(answer), answer?.status]).toEqual([ending.name, true, answer?.status]);
    await withBooks((books) => {
      const left: { charged: number }[] = [];
      for (const { ending, answer } of seen.filter(({ answer }) => answer !== null)) {
        const story = books.calls.get(answer?.requestId ?? '');
        const [settled] = story?.settled ?? [];
        const end = settled ?? story?.released[0];
        expect([ending.name, settled?.outcome ?? 'released']).toEqual([ending.name, ending.outcome]);
        expect([ending.name, end?.attempts.length]).toEqual([ending.name, ending.channelsTried]);
        if (ending.charge === null) expect(settled?.charged).toBeGreaterThan(0);
        else expect([ending.name, settled?.charged ?? 0]).toEqual([ending.name, ending.charge]);
      }
      // Those who left before the first byte know no request id: they are the calls of that model.
      for (const { settled } of books.calls.values())
        for (const event of settled) if (event.facts.model === 'slow') left.push(event);
      expect(left.map(({ charged }) => charged)).toEqual(new Array(keys.length * rounds).fill(50));

      const paid = (id: number) => books.users.get(id)?.charged ?? 0;
      expect(paid(alice.actor.id)).toBeGreaterThan(paid(bob.actor.id));
      const keysOfAlice = [...books.apiKeys.values()].slice(-3, -1).reduce((sum, key) => sum + key.charged, 0);
      expect(paid(alice.actor.id)).toBe(keysOfAlice);
    });
  });

  test('stop serving a key that is spent in the middle, while its owner continues with another one', async () => {
    setScripts();
    const min = await minFor('metered');
    gateway.provider.reset();
    setScripts();
    const owner = await gateway.addUser(1_000_000);
    // Four calls fit one after the other; each may cost more than it does.
    const limited = callers.with(await gateway.addApiKey(owner, { quota: 3 * 50 + min }));
    const answers: Answer[] = [];
    for (let call = 0; call < 8; call++) answers.push(await limited.chat({ model: 'metered', max_tokens: maxTokens }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 403, 403, 403, 403]);
    expect(countOf(answers, 403, 'pre_consume_token_quota_failed')).toBe(4);
    expect(gateway.provider.tally().calls).toBe(4);

    const other = callers.with(await gateway.addApiKey(owner));
    expect((await other.chat({ model: 'metered' })).status).toBe(200);
    await withBooks((books) => expect(ownedBy(books, owner.actor.id)).toBe(1_000_000 - 5 * 50));
  });
});

test('a call that costs more than its reservation is charged the rest of the balance; the remainder is not a debt, and further calls are refused', async () => {
  // The limit is not obeyed, and what came shows it.
  gateway.provider.script('metered', { tokens: { prompt: 20, completion: 5_000 }, chunks: 5_000, obeysLimit: false });
  const balance = (await minFor('metered')) + 10;
  const user = await gateway.addUser(balance);
  const caller = callers.with(await gateway.addApiKey(user));

  expect((await caller.chat({ model: 'metered', max_tokens: maxTokens })).status).toBe(200);
  await until(async () => ((await gateway.available(user)) === 0 ? true : null));
  const refused = await caller.chat({ model: 'metered', max_tokens: 1 });
  expect(refused.status).toBe(403);
  expect(errorIn(refused).code).toBe('insufficient_user_quota');
  expect(gateway.provider.tally().calls).toBe(1);

  await withBooks((books) => {
    expect(ownedBy(books, user.actor.id)).toBe(0);
    const [settled] = [...books.calls.values()].flatMap(({ settled }) => settled).slice(-1);
    expect(settled).toMatchObject({ charged: balance, uncovered: 5_020 - balance });
  });
  expect((await gateway.application.queries.self(user.actor)).quota).toBe(0);
});
