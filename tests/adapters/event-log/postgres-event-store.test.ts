import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newClient, type PostgresConnection } from '../../../src/adapters/database/postgres.js';
import {
  openPostgresEventStore,
  type PostgresEventStoreOptions,
} from '../../../src/adapters/event-log/postgres-event-store.js';
import { handle } from '../../../src/application/handle.js';
import type { EventStore } from '../../../src/application/ports/storage-ports.js';
import { requestId } from '../../../src/application/request-id.js';
import { beginning, type NewEvent, type Recorded, streams } from '../../../src/domain/events/events.js';
import { payloadVersions } from '../../../src/domain/events/upcast.js';
import { CallId, UserId } from '../../../src/domain/kernel/ids.js';
import { optionDecider } from '../../../src/domain/options/option.js';
import { collect } from '../../support/collect.js';
import { eventId, newEvent, someInstant, streamNamed, unknownEvent } from '../../support/given/events.js';
import { CutOff } from '../../support/postgres/cut-off.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/postgres.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';

/* What the Postgres engine has to fear beyond the contract: other processes, lost connections, lost notifications. */

const alpha = streamNamed('alpha-1');
const beta = streamNamed('beta-2');
const never = 3_600_000;
const ids = (events: readonly Recorded[]): string[] => events.map(({ id }) => id);

describe('the event store in Postgres', () => {
  let database: TestDatabase;
  const open: (EventStore | pg.Client | CutOff)[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    await database.pool.query('TRUNCATE events');
  });
  afterEach(async () => {
    for (const each of open.splice(0).reverse()) {
      if (each instanceof CutOff) await each.cut();
      else if ('end' in each) await each.end();
      else await each.close();
    }
  });

  async function openStore(options: Partial<PostgresEventStoreOptions> = {}): Promise<EventStore> {
    const store = await openPostgresEventStore({ connection: database.connection, log: quietLog, ...options });
    open.push(store);
    return store;
  }

  async function openClient(): Promise<pg.Client> {
    const client = newClient(database.connection);
    client.on('error', () => undefined);
    await client.connect();
    open.push(client);
    return client;
  }

  async function openCutOff(connection: PostgresConnection = database.connection): Promise<CutOff> {
    const between = await CutOff.before(connection);
    open.push(between);
    return between;
  }

  /** Appends as a store in another process would, within a transaction the test holds. */
  const appendBy = (client: pg.Client, stream: string, { id, at, event: { type, ...data } }: NewEvent) =>
    client.query(
      "SELECT * FROM append_events($1, '{-2}', '{1}', '{1}', '{1}', $2, $3, '{1}', $4, $5, 'somebody', null)",
      [[stream], [id], [type], [at], JSON.stringify(data)],
    );

  /** Resolves once an append waits for another transaction, in another Postgres process than `ended`; its number. */
  async function blockedAppend(ended = 0): Promise<number> {
    for (;;) {
      const { rows } = await database.pool.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
           AND query LIKE '%append_events%' AND pid <> $1`,
        [ended],
      );
      const [row] = rows;
      if (row !== undefined) return row.pid;
    }
  }

  describe('with overlapping transactions', () => {
    test('keeps a long transaction that appended first in first position, and no reader passes it', async () => {
      const store = await openStore();
      const slow = await openClient();
      const subscription = collect(store, beginning);
      await slow.query('BEGIN');
      await appendBy(slow, alpha, newEvent(1));
      const quick = store.append(beta, [newEvent(2)], 'no-stream');
      await blockedAppend();
      expect(await store.readAll(beginning, 10)).toEqual([]);
      await slow.query('COMMIT');
      expect(await quick).toEqual({ ok: true, revision: 0, position: 1 });
      await subscription.reached(2);
      expect(subscription.events.map(({ id, position }) => [id, position])).toEqual([
        [eventId(1), 0],
        [eventId(2), 1],
      ]);
      await subscription.stop();
    });

    test('keeps a transaction that began first and appends late in last position, though it had seen an empty log', async () => {
      const store = await openStore();
      const slow = await openClient();
      const subscription = collect(store, beginning);
      await slow.query('BEGIN');
      await slow.query('SELECT count(*) FROM events');
      expect(await store.append(alpha, [newEvent(1)], 'no-stream')).toMatchObject({ ok: true, position: 0 });
      await appendBy(slow, alpha, newEvent(2));
      await slow.query('COMMIT');
      await subscription.reached(2);
      expect(subscription.events.map(({ id, position, revision }) => [id, position, revision])).toEqual([
        [eventId(1), 0, 0],
        [eventId(2), 1, 1],
      ]);
      await subscription.stop();
    });

    test('leaves no gap after a rollback', async () => {
      const store = await openStore();
      const slow = await openClient();
      await slow.query('BEGIN');
      await appendBy(slow, alpha, newEvent(1));
      const quick = store.append(beta, [newEvent(2)], 'no-stream');
      await blockedAppend();
      await slow.query('ROLLBACK');
      expect(await quick).toEqual({ ok: true, revision: 0, position: 0 });
    });

    test('delivers one order without gaps to the subscribers of all processes', async () => {
      const stores = [await openStore(), await openStore(), await openStore()] as const;
      const subscriptions = stores.map((store) => collect(store, beginning));
      const writing = stores.flatMap((store, process) =>
        Array.from({ length: 10 }, async (_, writer) => {
          const series = process * 10 + writer;
          for (let n = 0; n < 20; n++)
            await store.append(streamNamed(`alpha-${series}`), [newEvent(n, 'x', series)], 'any');
        }),
      );
      await Promise.all(writing);
      for (const subscription of subscriptions) {
        await subscription.reached(600);
        expect(subscription.events.map(({ position }) => position)).toEqual(Array.from({ length: 600 }, (_, n) => n));
        expect(ids(subscription.events)).toEqual(ids(await stores[0].readAll(beginning, 600)));
        await subscription.stop();
      }
    });
  });

  describe('with large events', () => {
    const mebibyte = 1024 * 1024;

    test('refuses only the event that exceeds the limit, by name', async () => {
      const store = await openStore();
      const refused = expect(store.append(alpha, [newEvent(1, 'x'.repeat(mebibyte))], 'any')).rejects.toMatchObject({
        code: 'event-too-large',
        details: { event: 'OptionChanged', allowed: mebibyte },
      });
      expect(await store.append(beta, [newEvent(2)], 'any')).toMatchObject({ ok: true, position: 0 });
      await refused;
    });

    test('reads short pages: a reader never buffers more than a page and one event, and misses none', async () => {
      const store = await openStore();
      for (let n = 0; n < 12; n++) await store.append(alpha, [newEvent(n, 'x'.repeat(mebibyte - 100))], 'any');
      // As a release without the limit may have left it.
      await database.pool.query(
        `UPDATE events SET data = json_build_object('key', 'k', 'value', json_build_object('text', repeat('y', 12000000)))
         WHERE position = 6`,
      );
      const sizes: number[] = [];
      let position = beginning;
      for (;;) {
        const page = await store.readAll(position, 1_000);
        const last = page.at(-1);
        if (last === undefined) break;
        sizes.push(page.length);
        position = last.position;
      }
      expect(sizes).toEqual([5, 2, 5]);
    });
  });

  describe('with a long stream', () => {
    const grow = (events: number, characters: number) =>
      database.pool.query(
        `INSERT INTO events (position, event_id, stream, revision, type, version, data, at)
         SELECT n, gen_random_uuid(), $3, n, 'OptionChanged', 1, json_build_object('value', repeat('y', $2)), 0
         FROM generate_series(0, $1 - 1) n`,
        [events, characters, alpha],
      );

    test('reads it whole, in pages, in its own order', async () => {
      const store = await openStore();
      await grow(25, 1_000_000);
      const recorded = await store.readStream(alpha);
      expect(recorded.map(({ revision }) => revision)).toEqual(Array.from({ length: 25 }, (_, n) => n));
      expect(recorded.every(({ size = 0 }) => size > 1_000_000)).toBe(true);
    });

    test('refuses by name to read more than memory allows, and still decides a command on it', async () => {
      const store = await openStore();
      await grow(14, 10_000_000);
      await expect(store.readStream(alpha)).rejects.toMatchObject({
        code: 'stream-too-large',
        details: { stream: alpha },
      });
      const change = { type: 'ChangeOption', key: 'Notice', value: { text: 'on' }, by: UserId(1) } as const;
      const { events } = await handle(store, { now: () => someInstant })(optionDecider, alpha, change);
      expect(events).toMatchObject([{ type: 'OptionChanged', key: 'Notice' }]);
      for await (const page of store.streamPages(alpha, 13)) expect(page.map(({ revision }) => revision)).toEqual([14]);
    });
  });

  describe('while the log is locked', () => {
    const busy = { code: 'store-busy' };
    test('rejects an append after its timeout as not written, which stays true', async () => {
      const store = await openStore({ patienceMs: 500 });
      const locker = await openClient();
      await locker.query('BEGIN');
      await appendBy(locker, alpha, newEvent(1));
      const refused = expect(store.append(beta, [newEvent(2)], 'no-stream')).rejects.toMatchObject(busy);
      let over = false;
      void refused.finally(() => {
        over = true;
      });
      await blockedAppend();
      await until(async () => {
        await locker.query(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%append_events%'`);
        return over ? true : null;
      });
      await refused;
      await locker.query('COMMIT');
      expect(await store.append(beta, [newEvent(3)], 'no-stream')).toMatchObject({ ok: true, position: 1 });
      expect(ids(await store.readAll(beginning, 10))).toEqual([eventId(1), eventId(3)]);
    });

    test('has the server end an attempt, and the next one needs no other backend', async () => {
      const store = await openStore();
      const locker = await openClient();
      await locker.query('BEGIN');
      await appendBy(locker, alpha, newEvent(1));
      const append = store.append(beta, [newEvent(2)], 'no-stream');
      const pid = await blockedAppend();
      const endedByServer = async (): Promise<true | null> => {
        const { rows } = await database.pool.query(
          `SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event_type = 'Lock'`,
          [pid],
        );
        return rows.length === 0 ? true : null;
      };
      await until(endedByServer);
      expect(await blockedAppend()).toBe(pid);
      await locker.query('COMMIT');
      expect(await append).toMatchObject({ ok: true, position: 1 });
    });
  });

  describe('when a connection is lost', () => {
    test('before an append was written, writes it once', async () => {
      const store = await openStore();
      const slow = await openClient();
      await slow.query('BEGIN');
      await appendBy(slow, alpha, newEvent(1));
      const append = store.append(beta, [newEvent(2)], 'no-stream');
      const first = await blockedAppend();
      await slow.query('SELECT pg_terminate_backend($1)', [first]);
      await blockedAppend(first);
      await slow.query('COMMIT');
      expect(await append).toEqual({ ok: true, revision: 0, position: 1 });
      expect(ids(await store.readAll(beginning, 10))).toEqual([eventId(1), eventId(2)]);
    });

    test('because the server does not answer a new connection, rejects appends and accepts later ones', async () => {
      const between = await openCutOff();
      const store = await openStore({ connection: between.connection, patienceMs: 500 });
      between.silenceAfter('set statement_timeout');
      await expect(store.append(alpha, [newEvent(1)], 'no-stream')).rejects.toMatchObject({ kind: 'unavailable' });
      between.silenceAfter(null);
      await until(() => store.append(alpha, [newEvent(2)], 'any').catch(() => null));
      const [last] = ids(await store.readStream(alpha)).slice(-1);
      expect(last).toBe(eventId(2));
    }, 60_000);

    test('between the commit and its answer, keeps one copy, the first result, and one delivery', async () => {
      const between = await openCutOff();
      const store = await openStore({ connection: between.connection, pollMs: never });
      await store.append(alpha, [newEvent(1)], 'no-stream');
      const subscription = collect(store, beginning);
      await subscription.reached(1);
      const lost = between.loseAnswerTo('append_events');
      const append = store.append(alpha, [newEvent(2)], 0);
      await lost;
      expect(await append).toEqual({ ok: true, revision: 1, position: 1 });
      await subscription.reached(2);
      await store.append(alpha, [newEvent(3)], 1);
      await subscription.reached(3);
      expect(ids(subscription.events)).toEqual([eventId(1), eventId(2), eventId(3)]);
      expect(await store.readStream(alpha)).toEqual(subscription.events);
      await subscription.stop();
    });

    test('repeats a whole batch, each append with its own first result', async () => {
      const between = await openCutOff();
      const store = await openStore({ connection: between.connection });
      await store.append(alpha, [newEvent(1)], 'no-stream');
      const lost = between.loseAnswerTo('append_events');
      const appends = Array.from({ length: 50 }, (_, n) =>
        store.append(n === 7 ? alpha : streamNamed(`beta-${n}`), [newEvent(10 + n)], 'no-stream'),
      );
      await lost;
      const results = await Promise.all(appends);
      expect(results[7]).toEqual({ ok: false, conflict: { actual: 0 } });
      const positions = results.flatMap((result) => (result.ok ? [Number(result.position)] : []));
      expect(positions.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 49 }, (_, n) => n + 1));
      expect(await store.head()).toBe(49);
    });

    test('for good, rejects the append as unavailable, and recovers when Postgres is back', async () => {
      const between = await openCutOff();
      const store = await openStore({ connection: between.connection, patienceMs: 50 });
      await store.append(alpha, [newEvent(1)], 'no-stream');
      await between.cut();
      await expect(store.append(alpha, [newEvent(2)], 0)).rejects.toMatchObject({ code: 'store-unavailable' });
      await expect(store.readStream(alpha)).rejects.toMatchObject({ code: 'store-unavailable' });
      await between.restore();
      expect(await store.append(alpha, [newEvent(2)], 0)).toMatchObject({ ok: true, revision: 1 });
    });

    test('resumes a subscription at its position', async () => {
      const between = await openCutOff();
      const store = await openStore({ connection: between.connection });
      const other = await openStore();
      const subscription = collect(store, beginning);
      await other.append(alpha, [newEvent(1)], 'no-stream');
      await subscription.reached(1);
      await between.cut();
      await other.append(alpha, [newEvent(2)], 0);
      await between.restore();
      await other.append(alpha, [newEvent(3)], 1);
      await subscription.reached(3);
      expect(ids(subscription.events)).toEqual([eventId(1), eventId(2), eventId(3)]);
      await subscription.stop();
    });
  });

  describe('with other processes', () => {
    test('receives a notification of new events, without polling', async () => {
      const store = await openStore({ pollMs: never });
      const other = await openStore();
      const subscription = collect(store, beginning);
      for (let n = 0; n < 10; n++) {
        await other.append(alpha, [newEvent(n)], 'any');
        await subscription.reached(n + 1);
      }
      await subscription.stop();
    });

    test('finds new events by polling when the notification is lost', async () => {
      const store = await openStore({ pollMs: 20 });
      const subscription = collect(store, beginning);
      await store.append(alpha, [newEvent(1)], 'no-stream');
      await subscription.reached(1);
      const mute = await openClient();
      await mute.query(`CREATE SCHEMA mute; SET search_path = mute, pg_catalog, public;
        CREATE FUNCTION mute.pg_notify(text, text) RETURNS void LANGUAGE sql AS ''`);
      await appendBy(mute, beta, newEvent(2));
      await mute.query('DROP SCHEMA mute CASCADE');
      await subscription.reached(2);
      expect(ids(subscription.events)).toEqual([eventId(1), eventId(2)]);
      await subscription.stop();
    });

    test('delivers events between two appends of this process in between', async () => {
      const store = await openStore({ pollMs: never });
      const other = await openStore();
      const subscription = collect(store, beginning);
      for (let n = 0; n < 60; n += 2) {
        await Promise.all([store.append(alpha, [newEvent(n)], 'any'), other.append(beta, [newEvent(n + 1)], 'any')]);
      }
      await subscription.reached(60);
      expect(ids(subscription.events)).toEqual(ids(await store.readAll(beginning, 100)));
      await subscription.stop();
    });
  });

  describe('of the only writer', () => {
    const openNode = async (): Promise<EventStore> => {
      const { rows } = await database.pool.query<{ epoch: number }>('SELECT epoch FROM begin_epoch()');
      return openStore({ fence: { epoch: rows[0]?.epoch ?? 0, onLost: () => undefined }, pollMs: never });
    };

    test('notifies no other connection while no other process subscribes to the log', async () => {
      const node = await openNode();
      const notified: string[] = [];
      const listener = await openClient();
      listener.on('notification', ({ payload }) => notified.push(payload?.split(' ')[0] ?? ''));
      await listener.query('LISTEN events_appended');
      await node.append(alpha, [newEvent(1)], 'no-stream');
      await node.append(streamNamed('call-1'), [newEvent(2)], 'no-stream');
      const command = await openStore({ listens: false });
      await command.append(beta, [newEvent(3)], 'no-stream');
      // Notifications come in the order of what they report: an earlier one would be here by now.
      await until(async () => (notified.length > 0 ? true : null));
      expect(notified).toEqual(['2']);
    });

    test('notifies subscribers in another process, calls included', async () => {
      const node = await openNode();
      const subscription = collect(await openStore({ pollMs: never }), beginning);
      // The follower is in its place when it has been notified of something for the first time.
      await until(async () => {
        await node.append(alpha, [newEvent(subscription.events.length, 'x', Date.now() % 65_000)], 'any');
        return subscription.events.length > 0 ? true : null;
      });
      const before = (await node.readAll(beginning, 1_000)).length;
      await node.append(streamNamed('call-1'), [newEvent(1_000)], 'no-stream');
      await subscription.reached(before + 1);
      await subscription.stop();
    });

    test('delivers to its own subscribers, with the events of commands in between', async () => {
      const node = await openNode();
      const subscription = collect(node, beginning);
      const command = await openStore({ listens: false });
      for (let n = 0; n < 10; n += 2) {
        await node.append(alpha, [newEvent(n)], 'any');
        await command.append(beta, [newEvent(n + 1)], 'any');
        await subscription.reached(n + 2);
      }
      expect(ids(subscription.events)).toEqual(ids(await node.readAll(beginning, 100)));
      await subscription.stop();
    });
  });

  test('reads only the call itself for an append to it, however small the log was as the plan was made', async () => {
    await database.pool.query(
      `INSERT INTO events (position, event_id, stream, revision, type, version, data, at)
       SELECT n, gen_random_uuid(), 'apikey-' || n % 8, n / 8, 'ApiKeyEdited', 1, '{}', 0 FROM generate_series(0, 999) n`,
    );
    await database.pool.query('ANALYZE events');
    const client = await openClient();
    const rowsRead = async (): Promise<number> => {
      await client.query('SELECT pg_stat_force_next_flush()');
      const { rows } = await client.query<{ read: number }>(
        `SELECT idx_tup_read AS read FROM pg_stat_user_indexes WHERE indexrelname = 'events_of_stream'`,
      );
      return rows[0]?.read ?? Number.NaN;
    };
    const before = await rowsRead();
    for (const expected of [-1, 0])
      await client.query(
        "SELECT append_calls('{call-1}', $1, '{t}', $2, '{CallReserved}', '{1}', '{0}', '{}', 'x', null)",
        [[expected], [eventId(expected + 1)]],
      );
    expect(await database.pool.query('SELECT FROM events')).toMatchObject({ rowCount: 1_002 });
    expect((await rowsRead()) - before).toBe(1);
  });

  test('fills the pages of the stream index with calls, among streams with smaller and greater names', async () => {
    const store = await openStore();
    const others = ['apikey', 'user'].flatMap((kind) =>
      Array.from({ length: 300 }, (_, index) => streamNamed(`${kind}-${index}`)),
    );
    await Promise.all(others.map((stream, index) => store.append(stream, [newEvent(index)], 'no-stream')));
    const callsAtOnce = 500;
    for (let first = 0; first < 3_000; first += callsAtOnce)
      await Promise.all(
        Array.from({ length: callsAtOnce }, (_, index) => {
          const call = streams.call(CallId(requestId(someInstant + first + index)));
          const events = [2, 3].map((n) => newEvent((first + index) * 2 + n, 'x', 1));
          return store.append(call, events, 'no-stream');
        }),
      );
    const { rows } = await database.pool.query<{ bytes: number }>(
      `SELECT pg_relation_size('events_of_stream') / count(*) AS bytes FROM events`,
    );
    // An entry has 52. Where pages are split in their middle and only the later half goes on, each has 103.
    expect(rows[0]?.bytes).toBeLessThan(70);
  });

  describe('with event ids', () => {
    test('refuses an append with some ids that are in the stream and some that are not', async () => {
      const store = await openStore();
      await store.append(alpha, [newEvent(1)], 'no-stream');
      await expect(store.append(alpha, [newEvent(1), newEvent(2)], 'any')).rejects.toThrow(/reuses the event ids/);
    });

    test('refuses only the append with an id of another stream', async () => {
      const store = await openStore();
      await store.append(alpha, [newEvent(1)], 'no-stream');
      const reusing = store.append(beta, [newEvent(1)], 'no-stream');
      const neighbour = store.append(streamNamed('gamma-3'), [newEvent(2)], 'no-stream');
      await expect(reusing).rejects.toThrow(/unique/);
      expect(await neighbour).toMatchObject({ ok: true, revision: 0 });
      expect(await store.readStream(beta)).toEqual([]);
    });
  });

  describe('with payload versions', () => {
    const renamed = payloadVersions({ OptionChanged: [({ name, ...rest }) => ({ ...rest, key: name })] });

    async function storeOldEvent(store: EventStore): Promise<void> {
      await store.append(alpha, [newEvent(1)], 'no-stream');
      await database.pool.query(`UPDATE events SET data = '{"name": "old name", "value": {"text": "x"}}'`);
    }

    test('reads an old payload in its new shape', async () => {
      await storeOldEvent(await openStore());
      const [event] = await (await openStore({ payloads: renamed })).readStream(alpha);
      expect(event?.event).toEqual({ type: 'OptionChanged', key: 'old name', value: { text: 'x' } });
    });

    test('writes new events in the newest version', async () => {
      const store = await openStore({ payloads: renamed });
      await store.append(alpha, [newEvent(1)], 'no-stream');
      const { rows } = await database.pool.query('SELECT version FROM events');
      expect(rows).toEqual([{ version: 2 }]);
      expect((await store.readStream(alpha))[0]?.event).toEqual(newEvent(1).event);
    });

    test('stops readers at an event of a newer release instead of skipping it', async () => {
      const newer = await openStore({ payloads: renamed });
      const older = await openStore();
      const live = collect(older, beginning);
      await older.append(alpha, [newEvent(1)], 'no-stream');
      await live.reached(1);
      await newer.append(alpha, [newEvent(2)], 0);
      await expect(live.reached(2)).rejects.toThrow(/version 2/);
      await expect(collect(older, beginning).reached(2)).rejects.toThrow(/version 2/);
    });

    test('stops subscribers at an event of an unknown type at once', async () => {
      const store = await openStore();
      const live = collect(store, beginning);
      await store.append(alpha, [newEvent(1)], 'no-stream');
      await live.reached(1);
      await appendBy(await openClient(), 'beta-2', unknownEvent(2));
      await expect(live.reached(2)).rejects.toMatchObject({ name: 'UnreadableEvent', type: 'CreditLent', position: 1 });
    });

    test('stops subscribers at an event of a newer release among others, after the others have been delivered', async () => {
      const store = await openStore({ pollMs: never });
      const live = collect(store, beginning);
      await store.append(alpha, [newEvent(1)], 'no-stream');
      await live.reached(1);
      const elsewhere = await openClient();
      await elsewhere.query('BEGIN');
      await appendBy(elsewhere, 'beta-2', newEvent(2));
      await appendBy(elsewhere, 'beta-2', unknownEvent(3));
      await elsewhere.query('COMMIT');
      await live.reached(2);
      await expect(live.reached(3)).rejects.toMatchObject({ name: 'UnreadableEvent', position: 2 });
    });

    test('keeps the text of a payload byte for byte', async () => {
      const store = await openStore();
      await store.append(alpha, [newEvent(1, 'a "quoted" \u00e9\u2028')], 'no-stream');
      const { rows } = await database.pool.query('SELECT data::text AS data FROM events');
      expect(rows).toEqual([{ data: JSON.stringify({ key: 'option 1', value: { text: 'a "quoted" \u00e9\u2028' } }) }]);
    });
  });
});
