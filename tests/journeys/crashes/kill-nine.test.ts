import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withDatabase } from '../../../src/cli/database.js';
import { type Config, readConfig } from '../../../src/config.js';
import { type SimulatedProvider, startSimulatedProvider } from '../../../src/demo/simulated-provider.js';
import type { UserId } from '../../../src/domain/kernel/ids.js';
import { openReadModels } from '../../../src/projections/read-models.js';
import { prepareCallerData } from '../../support/callers/caller-data.js';
import { isWholeStream, openCallers } from '../../support/callers/callers.js';
import {
  type GatewayProcess,
  isAlive,
  postmasterOf,
  startGatewayProcess,
} from '../../support/gateway/gateway-process.js';
import {
  type CallEvents,
  expectLedgersToAgree,
  type LedgerSnapshot,
  ledgerAtRest,
} from '../../support/gateway/ledger-snapshot.js';
import { balanceOf, type WalletBalance } from '../../support/postgres/ledger-reads.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';

/*
 * The provider lives in this process and survives. Every call asks for a model of its own, and the model's name is all
 * that caller, log and provider have in common: by it a settlement can be matched with what the provider really served.
 */

/** CONTRIBUTING.md says how it is done for longer. */
const cycles = Number(process.env.KILL_CYCLES ?? 3);
const workers = 12;
/** However slow the machine is today: nothing here is about time. */
const patience = 120_000;
const given = 1_000_000_000;
const modelNames = Array.from({ length: 2_000 }, (_, index) => `call-${index}`);

interface Call {
  readonly model: string;
  /** The caller has all of it: the whole JSON body, or a stream up to its end mark. */
  readonly complete: boolean;
  /** null: cut off before the headers. */
  readonly requestId: string | null;
}

let dataDir: string;
let config: Config;
let provider: SimulatedProvider;
let apiKey: string;
let userId: UserId;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'tallygate-kill-'));
  config = readConfig({ DATA_DIR: dataDir, PORT: '0' });
  provider = await startSimulatedProvider({
    behaviour: { chunks: 6, chunkDelayMs: 4, firstByteDelayMs: 4 },
    remember: 1,
  });
  ({ userId, apiKey } = await prepareCallerData(config, {
    upstreamUrl: provider.url,
    models: modelNames,
    quota: given,
  }));
});
afterAll(async () => {
  await provider?.stop();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

/** Half of the workers read JSON, half read streams, one call after the other, until the gateway is gone. */
function startLoad(url: string, nextModel: () => string, made: Call[]): { done: Promise<unknown> } {
  const callers = openCallers(url);
  const caller = callers.with(apiKey);
  const worker = async (_: unknown, index: number): Promise<void> => {
    const stream = index % 2 === 1;
    for (;;) {
      const model = nextModel();
      const requestIds: string[] = [];
      try {
        const answer = await caller.chat({ model, stream }, { onHeaders: (id) => requestIds.push(id) });
        const complete = answer.status === 200 && (!stream || isWholeStream(answer));
        made.push({ model, complete, requestId: answer.requestId });
      } catch {
        made.push({ model, complete: false, requestId: requestIds[0] ?? null });
        return;
      }
    }
  };
  const done = Promise.all(Array.from({ length: workers }, worker)).finally(() => callers.close());
  return { done };
}

/**
 * Two calls the provider never ends, so that the gateway is certain to be killed in the middle of one of each kind.
 * Resolves once the provider has both requests, and the caller the beginning of the stream.
 */
async function holdOpen(url: string, nextModel: () => string, made: Call[]): Promise<{ done: Promise<unknown> }> {
  const callers = openCallers(url);
  const caller = callers.with(apiKey);
  const hold = async (stream: boolean, begun: (requestId: string) => void): Promise<void> => {
    const model = nextModel();
    provider.script(model, stream ? { chunks: 6, after: { frames: 3, then: 'hang' } } : { kind: 'hang' });
    let requestId: string | null = null;
    const onHeaders = (id: string): void => {
      requestId = id;
      begun(id);
    };
    const ended = caller.chat({ model, stream }, { onHeaders }).catch(() => null);
    if (!stream) {
      await until(async () => (provider.tally().byModel[model] === 1 ? true : null), patience);
      begun(model);
    }
    await ended;
    made.push({ model, complete: false, requestId });
  };
  const endings: Promise<void>[] = [];
  await Promise.all(
    [true, false].map((stream) => new Promise<string>((begun) => void endings.push(hold(stream, begun)))),
  );
  return { done: Promise.all(endings).finally(() => callers.close()) };
}

const completed = (calls: readonly Call[]): number => calls.filter(({ complete }) => complete).length;

describe('kill -9 of the server under load, repeatedly,', () => {
  const made: Call[] = [];
  const starts: GatewayProcess[] = [];
  const postmasters = new Set<number>();
  let used = 0;
  let exitCode: number | null;
  let books: LedgerSnapshot;
  let balance: WalletBalance;
  const nextModel = (): string => modelNames[used++] ?? 'no-name-left';
  const start = async (): Promise<GatewayProcess> => {
    // In turns alone and with workers, who end with it.
    const gateway = await startGatewayProcess(dataDir, { WORKERS: starts.length % 2 === 0 ? '2' : '1' });
    starts.push(gateway);
    postmasters.add((await postmasterOf(dataDir)) ?? 0);
    return gateway;
  };

  beforeAll(async () => {
    for (let cycle = 0; cycle < cycles; cycle++) {
      const gateway = await start();
      const before = completed(made);
      const { done } = startLoad(gateway.url, nextModel, made);
      // Never the same moment twice.
      const enough = 15 + 7 * cycle;
      await until(async () => (completed(made) - before >= enough ? true : null), patience);
      const held = await holdOpen(gateway.url, nextModel, made);
      await gateway.kill();
      await Promise.all([done, held.done]);
      // Every second time the next start has to deal with a Postgres that is still there.
      if (cycle % 2 === 1) await until(async () => ([...postmasters].some(isAlive) ? null : true), patience);
    }
    const last = await start();
    await withDatabase(config, quietLog, async (database) => {
      books = await ledgerAtRest(database);
      await expectLedgersToAgree(database, books);
      balance = await balanceOf(openReadModels(database.pool), userId);
    });
    const callers = openCallers(last.url);
    const answer = await callers.with(apiKey).chat({ model: nextModel() });
    expect(answer.status).toBe(200);
    await callers.close();
    exitCode = await last.stop();
  }, 6 * patience);
  afterAll(() => Promise.all(starts.map((gateway) => gateway.kill())));

  const stories = (): Map<string, CallEvents> => {
    const byModel = new Map<string, CallEvents>();
    for (const story of books.calls.values()) {
      const model = story.reserved[0]?.facts.model ?? '';
      expect([model, byModel.has(model)]).toEqual([model, false]);
      byModel.set(model, story);
    }
    return byModel;
  };

  test('happened under real load: answers arrived, and calls of every cycle were interrupted', () => {
    expect(completed(made)).toBeGreaterThanOrEqual(15 * cycles);
    expect(made.length - completed(made)).toBeGreaterThanOrEqual(cycles);
    expect(made.some(({ complete, requestId }) => !complete && requestId !== null)).toBe(true);
    const recovered = [...books.calls.values()].filter(({ released }) => released[0]?.reason === 'recovered');
    expect(recovered.length).toBeGreaterThanOrEqual(cycles);
  });

  test('is followed by a start that reports the released reservations', () => {
    const recovered = [...books.calls.values()].filter(({ released }) => released[0]?.reason === 'recovered').length;
    const reported = starts
      .flatMap(({ logged }) => logged.map((line) => JSON.parse(line) as { msg: string; released?: number }))
      .reduce((sum, { msg, released = 0 }) => (msg.startsWith('ended calls') ? sum + released : sum), 0);
    expect(reported).toBe(recovered);
  });

  test('leaves every answer that a caller received complete settled exactly once', () => {
    const byModel = stories();
    for (const { model, complete, requestId } of made) {
      if (!complete) continue;
      expect([model, byModel.get(model)?.settled.length, byModel.get(model)?.released.length]).toEqual([model, 1, 0]);
      expect(books.calls.get(requestId ?? '')).toBe(byModel.get(model));
    }
  });

  test('leaves no settled call unknown to the provider, and none was sent to it without a durable reservation', () => {
    const { byModel: served } = provider.tally();
    const byModel = stories();
    for (const [model, { settled }] of byModel)
      if (settled.length > 0) expect([model, served[model]]).toEqual([model, 1]);
    const reserved = [...byModel.keys()];
    const last = `call-${used - 1}`;
    expect(Object.keys(served).filter((model) => !reserved.includes(model) && model !== last)).toEqual([]);
  });

  test('leaves every interrupted call released or settled, once', () => {
    const byModel = stories();
    let ended = 0;
    for (const { model, complete } of made) {
      const story = byModel.get(model);
      // Cut off before it was reserved: there is nothing to end.
      if (complete || story === undefined) continue;
      expect([model, story.settled.length + story.released.length]).toEqual([model, 1]);
      ended++;
    }
    expect(ended).toBeGreaterThan(0);
  });

  test('leaves a balance of grants minus charges, with nothing reserved', () => {
    const charged = [...books.calls.values()]
      .flatMap(({ settled }) => settled)
      .reduce((sum, event) => sum + event.charged, 0);
    expect(charged).toBeGreaterThan(0);
    expect(balance).toEqual({ available: given - charged, reserved: 0, total: given - charged });
  });

  test('does not prevent an orderly stop at the end, without a Postgres left', async () => {
    expect(exitCode).toBe(0);
    expect(postmasters.size).toBe(cycles + 1);
    expect([...postmasters].filter(isAlive)).toEqual([]);
    expect(await postmasterOf(dataDir)).toBeNull();
  });
});
