import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withDatabase } from '../../../src/cli/database.js';
import { type Config, readConfig } from '../../../src/config.js';
import { chargeOf } from '../../../src/domain/pricing/pricing.js';
import { openCallers } from '../../support/callers/callers.js';
import { openRealtime } from '../../support/callers/realtime-client.js';
import { startGatewayProcess } from '../../support/gateway/gateway-process.js';
import {
  type CallEvents,
  expectLedgersToAgree,
  type LedgerSnapshot,
  ledgerAtRest,
} from '../../support/gateway/ledger-snapshot.js';
import { rootPassword, setUpData } from '../../support/gateway/set-up-data.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';
import {
  begunResponse,
  newResponse,
  type RealtimeUpstream,
  spokenPiece,
  startRealtimeUpstream,
} from '../../support/upstreams/realtime-upstream.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/* A gateway is killed with calls at every stage. What its successor books for each is what had become of it. */

const models = ['answering', 'streaming', 'connecting', 'speaking', 'conversing', 'listening'];
/** Of 12 characters. */
const spoken = 'Hello there.';
const said = 'word '.repeat(400);

let dataDir: string;
let config: Config;
let upstream: Upstream;
let realtime: RealtimeUpstream;
/** Takes connections and says nothing: whoever comes through it has sent nothing yet. */
let silentProxy: Server;
const proxied: Socket[] = [];
let books: LedgerSnapshot;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'tallygate-crash-'));
  config = readConfig({ DATA_DIR: dataDir, PORT: '0' });
  let asked = 0;
  upstream = await startUpstream(({ body }, response) => {
    asked++;
    if (body.includes(spoken)) {
      response.writeHead(200, { 'content-type': 'audio/mpeg' }).write('sound');
      return;
    }
    if (!body.includes('"stream":true')) return;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta: { content: said } }] })}\n\n`);
  });
  realtime = await startRealtimeUpstream();
  realtime.behave = ({ type }, send) => {
    if (type !== 'response.create') return;
    const id = newResponse();
    send(begunResponse(id));
    send(spokenPiece(id, 48_000));
  };
  silentProxy = createServer((socket) => proxied.push(socket.on('error', () => {})));
  silentProxy.listen(0, '127.0.0.1');
  await once(silentProxy, 'listening');
  const proxy = `http://127.0.0.1:${(silentProxy.address() as AddressInfo).port}`;
  const apiKey = await setUpData(
    config,
    [
      { models: ['answering', 'streaming', 'speaking'], baseUrl: upstream.url },
      { models: ['connecting'], baseUrl: upstream.url, proxy },
      { models: ['conversing', 'listening'], baseUrl: realtime.url },
    ],
    { speaking: { pieces: { characters: '0.00001' } } },
  );

  const doomed = await startGatewayProcess(dataDir);
  const callers = openCallers(doomed.url);
  const caller = callers.with(apiKey);
  let read = '';
  let heard = '';
  const cutOff = Promise.allSettled([
    caller.chat({ model: 'answering' }),
    caller.chat(
      { model: 'streaming', stream: true },
      {
        enough: (text) => {
          read = text;
          return false;
        },
      },
    ),
    caller.chat({ model: 'connecting' }),
    caller.send('/v1/audio/speech', {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
      body: { model: 'speaking', voice: 'alloy', input: spoken },
      enough: (text) => {
        heard = text;
        return false;
      },
    }),
  ]);
  const openSession = (model: string) => openRealtime(doomed.url, apiKey, { path: `/v1/realtime?model=${model}` });
  const [conversing] = await Promise.all(['conversing', 'listening'].map(openSession));
  conversing?.send({ type: 'response.create' });
  await conversing?.next('response.output_audio.delta');
  await until(
    async () => (asked === 3 && proxied.length > 0 && read.includes('word') && heard !== '' ? true : null),
    60_000,
  );
  await until(() => withDatabase(config, quietLog, ({ pool }) => everythingNoted(pool)), 60_000);
  await setOption(doomed.url, 'ModelRatio', '{"streaming":1000}');
  await doomed.kill();
  await cutOff;
  await callers.close();

  const successor = await startGatewayProcess(dataDir);
  try {
    books = await withDatabase(config, quietLog, async (database) => {
      const found = await ledgerAtRest(database);
      await expectLedgersToAgree(database, found);
      return found;
    });
  } finally {
    await successor.stop();
  }
}, 240_000);
afterAll(async () => {
  for (const socket of proxied) socket.destroy();
  silentProxy?.close();
  await upstream?.stop();
  await realtime?.stop();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

/** As root does it from outside. */
async function setOption(url: string, key: string, value: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const login = await fetch(`${url}/api/user/login`, {
    ...{ method: 'POST', headers },
    body: JSON.stringify({ username: 'root', password: rootPassword }),
  });
  const { data } = (await login.json()) as { data: { id: number } };
  const cookie = login.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const answer = await fetch(`${url}/api/option/`, {
    ...{
      method: 'PUT',
      headers: { ...headers, cookie, 'new-api-user': String(data.id), 'x-tallygate-client': 'test' },
    },
    body: JSON.stringify({ key, value }),
  });
  expect(await answer.json()).toMatchObject({ success: true });
}

/** The calls that have gone upstream, stream and session with what they have delivered, the speech as begun, and no other. */
async function everythingNoted(pool: { query: (text: string) => Promise<{ rows: unknown[] }> }): Promise<true | null> {
  const { rows } = await pool.query(`
    select 1 from call_progress_node
    where noted_to >= (select max(position) from events where type = 'CallReserved')
      and (select count(*) from call_progress) = 4
      and (select count(*) from call_progress where progress ->> 'delivered' is not null) = 3
      and (select count(*) from call_progress where (progress -> 'delivered' ->> 'outputTokens')::int > 0) = 2
  `);
  return rows.length > 0 ? true : null;
}

const storyOf = (model: string): CallEvents => {
  const story = [...books.calls.values()].find(({ reserved }) => reserved[0]?.facts.model === model);
  if (story === undefined) throw new Error(`no call of ${model}`);
  return story;
};

describe('a call that was interrupted by a crash', () => {
  test('after it had been sent costs its user nothing, and the possible upstream charge is booked to suspense', () => {
    const { reserved, released, settled } = storyOf('answering');
    expect(settled).toEqual([]);
    expect(released[0]).toMatchObject({ reason: 'recovered', suspense: reserved[0]?.reserved });
  });

  test('in the middle of a stream is charged for the delivered part, and its log line says so', () => {
    const { released, settled } = storyOf('streaming');
    expect(released).toEqual([]);
    expect(settled[0]).toMatchObject({ outcome: 'gateway-failed', usageSource: 'estimated', suspense: 0 });
    // 400 words of four letters and a blank.
    expect(settled[0]?.usage.output).toBe(500);
    expect(settled[0]?.charged).toBeGreaterThan(0);
  });

  test('has the price of its reservation, though that has changed in the meantime', () => {
    const { reserved, settled } = storyOf('streaming');
    const [before, after] = [reserved[0]?.price, settled[0]?.price];
    if (before === undefined || settled[0] === undefined) throw new Error('a call without a price');
    expect(after).toEqual(before);
    expect(before).not.toMatchObject({ model: '1000' });
    expect(settled[0].charged).toBe(chargeOf(settled[0].usage, before));
  });

  test('in the middle of a speech is charged by its characters, which its reservation names', () => {
    const { reserved, released, settled } = storyOf('speaking');
    expect(released).toEqual([]);
    expect(reserved[0]).toMatchObject({ reserved: 60, pieces: { characters: 12 } });
    expect(settled[0]).toMatchObject({
      outcome: 'gateway-failed',
      charged: 60,
      usage: { characters: 12 },
      suspense: 0,
    });
  });

  test('before anything had been sent leaves nothing behind, nor in suspense', () => {
    const { released, settled } = storyOf('connecting');
    expect(settled).toEqual([]);
    expect(released[0]).toMatchObject({ reason: 'recovered', suspense: 0 });
  });

  test('in the middle of a realtime response is charged for the sound that was delivered, as one part of its session', () => {
    const { reserved, released, settled } = storyOf('conversing');
    expect([reserved.length, released, settled.length]).toEqual([1, [], 1]);
    expect(settled[0]).toMatchObject({ outcome: 'gateway-failed', usageSource: 'estimated', suspense: 0 });
    // A second of sound.
    expect(settled[0]?.usage.output).toBeGreaterThanOrEqual(20);
    expect(settled[0]?.charged).toBeGreaterThan(0);
  });

  test('in a realtime session without an active response costs nothing', () => {
    const { released, settled } = storyOf('listening');
    expect(settled).toEqual([]);
    expect(released[0]).toMatchObject({ reason: 'recovered', suspense: 0 });
  });

  test('is one of these six cases', () => {
    expect(models.flatMap((model) => storyOf(model).reserved)).toHaveLength(6);
  });
});
