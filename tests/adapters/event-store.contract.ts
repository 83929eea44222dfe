import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { DurableEventStore, EventStore, ExpectedRevision } from '../../src/application/ports/storage-ports.js';
import { beginning, type Position, type Recorded } from '../../src/domain/events/events.js';
import { collect } from '../support/collect.js';
import { eventId, newEvent, someInstant, streamNamed, unknownEvent } from '../support/given/events.js';

import { appended, ascending, ids, positions, readWholeLog } from './event-store-log.js';
import { subscriptionContract } from './event-store-subscriptions.contract.js';
/* What every engine behind the EventStore port promises. Nothing here knows an engine. */

export interface OpenedStore {
  /** On a log without events. */
  readonly store: DurableEventStore;
  /** Closes the store, if the test has not, and removes the log. */
  dispose(): Promise<void>;
}

/** `begin`: how the names of all streams begin, for engines that keep some apart. */
export function eventStoreContract(engine: string, open: () => Promise<OpenedStore>, begin = ''): void {
  const named = (name: string) => streamNamed(begin + name);
  const alpha = named('alpha-1');
  const beta = named('beta-2');

  describe(`the event store (${engine})`, () => {
    let opened: OpenedStore;
    let store: DurableEventStore;

    beforeEach(async () => {
      opened = await open();
      store = opened.store;
    });
    afterEach(() => opened.dispose());

    describe('appending with an expected revision', () => {
      test('"no-stream" begins a stream at revision 0', async () => {
        expect(await store.append(alpha, [newEvent(1)], 'no-stream')).toMatchObject({ ok: true, revision: 0 });
      });

      test('the exact revision continues the stream', async () => {
        await appended(store, alpha, [newEvent(1)], 'no-stream');
        expect(await store.append(alpha, [newEvent(2)], 0)).toMatchObject({ ok: true, revision: 1 });
      });

      test('"any" begins a stream and continues it', async () => {
        expect(await store.append(alpha, [newEvent(1)], 'any')).toMatchObject({ ok: true, revision: 0 });
        expect(await store.append(alpha, [newEvent(2)], 'any')).toMatchObject({ ok: true, revision: 1 });
      });

      test('counts the revisions of each stream separately', async () => {
        await appended(store, alpha, [newEvent(1), newEvent(2)], 'no-stream');
        expect(await store.append(beta, [newEvent(3)], 'no-stream')).toMatchObject({ ok: true, revision: 0 });
      });

      test.each<[string, ExpectedRevision, number]>([
        ['"no-stream" where the stream exists', 'no-stream', 1],
        ['a revision that has passed', 0, 1],
        ['a revision in the future', 7, 1],
      ])('%s is a conflict that contains the actual revision', async (_, expected, actual) => {
        await appended(store, alpha, [newEvent(1), newEvent(2)], 'no-stream');
        expect(await store.append(alpha, [newEvent(3)], expected)).toEqual({ ok: false, conflict: { actual } });
      });

      test('a revision of a stream that does not exist is a conflict without an actual revision', async () => {
        expect(await store.append(alpha, [newEvent(1)], 0)).toEqual({ ok: false, conflict: { actual: null } });
      });

      test('a conflict writes nothing', async () => {
        await appended(store, alpha, [newEvent(1)], 'no-stream');
        await store.append(alpha, [newEvent(2), newEvent(3)], 'no-stream');
        expect(ids(await readWholeLog(store))).toEqual([eventId(1)]);
      });

      test('after a conflict the same events can be appended at the actual revision', async () => {
        await appended(store, alpha, [newEvent(1)], 'no-stream');
        await store.append(alpha, [newEvent(2)], 'no-stream');
        expect(await store.append(alpha, [newEvent(2)], 0)).toMatchObject({ ok: true, revision: 1 });
      });

      test('exactly one of many concurrent appends at the same revision succeeds', async () => {
        const racers = Array.from({ length: 40 }, (_, n) => store.append(alpha, [newEvent(n)], 'no-stream'));
        const results = await Promise.all(racers);
        expect(results.filter(({ ok }) => ok)).toHaveLength(1);
        expect(results.filter((result) => !result.ok && result.conflict.actual === 0)).toHaveLength(39);
        expect(await store.readStream(alpha)).toHaveLength(1);
      });
    });

    describe('appending several events', () => {
      test('assigns consecutive revisions and returns that of the last', async () => {
        const result = await store.append(alpha, [newEvent(1), newEvent(2), newEvent(3)], 'no-stream');
        const stored = await store.readStream(alpha);
        expect(stored.map(({ id, revision }) => [id, revision])).toEqual([
          [eventId(1), 0],
          [eventId(2), 1],
          [eventId(3), 2],
        ]);
        expect(result).toEqual({ ok: true, revision: 2, position: stored[2]?.position });
      });

      test('keeps them together in the global order, whatever is appended at the same time', async () => {
        const appends = Array.from({ length: 60 }, (_, n) =>
          store.append(named(`alpha-${n}`), [newEvent(3 * n), newEvent(3 * n + 1), newEvent(3 * n + 2)], 'any'),
        );
        await Promise.all(appends);
        const log = await readWholeLog(store);
        expect(log).toHaveLength(180);
        for (let start = 0; start < log.length; start += 3) {
          const together = log.slice(start, start + 3);
          expect(new Set(together.map(({ stream }) => stream)).size).toBe(1);
          expect(together.map(({ revision }) => revision)).toEqual([0, 1, 2]);
        }
      });

      test('works for more events than one transmission usually holds', async () => {
        const events = Array.from({ length: 3_000 }, (_, n) => newEvent(n));
        expect(await store.append(alpha, events, 'no-stream')).toMatchObject({ ok: true, revision: 2_999 });
        expect(ids(await store.readStream(alpha))).toEqual(events.map(({ id }) => id));
      });
    });

    describe('appending events that are durable before they are committed', () => {
      const call = streamNamed('call-ahead');

      test('begins and continues a call', async () => {
        expect(await store.appendDurable(call, newEvent(1), 'no-stream')).toMatchObject({ ok: true });
        expect(await store.appendDurable(call, newEvent(2), 0)).toMatchObject({ ok: true });
        expect(await store.appendDurable(call, newEvent(3), 1)).toMatchObject({ ok: true });
        expect(ids(await store.readStream(call))).toEqual([eventId(1), eventId(2), eventId(3)]);
      });

      test('reports the position as soon as there is one', async () => {
        const noted = new Map<string, Position>();
        const names = Array.from({ length: 20 }, (_, n) => streamNamed(`call-${n}`));
        const note = (stream: string) => (position: Position) => void noted.set(stream, position);
        await Promise.all(
          names.map((stream, n) => store.appendDurable(stream, newEvent(n), 'no-stream', note(stream))),
        );
        await store.head();
        const log = await readWholeLog(store);
        expect(log).toHaveLength(20);
        for (const { stream, position } of log) expect(noted.get(stream)).toBe(position);
      });

      test('is visible to readers of the stream and of the head', async () => {
        const before = await store.head();
        await store.appendDurable(call, newEvent(1), 'no-stream');
        const head = await store.head();
        expect(head > before).toBe(true);
        await store.appendDurable(call, newEvent(2), 0);
        expect(await store.readStream(call)).toHaveLength(2);
        await store.appendDurable(call, newEvent(3), 1);
        expect(ids(await store.readStream(call))).toContain(eventId(3));
      });

      test.each<[string, ExpectedRevision]>([
        ['another start', 'no-stream'],
        ['another outcome', 0],
        ['a revision too far ahead', 5],
      ])('is refused for %s, whichever way the events were appended before', async (_, expected) => {
        for (const [stream, ahead] of [
          [call, true],
          [streamNamed('call-placed'), false],
        ] as const) {
          const series = ahead ? 0 : 1;
          for (const [n, revision] of [
            [1, 'no-stream'],
            [2, 0],
          ] as const)
            if (ahead) await store.appendDurable(stream, newEvent(n), revision);
            else await store.append(stream, [newEvent(n, 'value', 1)], revision);
          const refused = await store.appendDurable(stream, newEvent(3, 'value', series), expected);
          expect(refused).toEqual({ ok: false, conflict: { actual: 1 } });
          expect(await store.readStream(stream)).toHaveLength(2);
        }
      });

      test('changes nothing when it is repeated, durable or committed', async () => {
        await store.appendDurable(call, newEvent(1), 'no-stream');
        expect(await store.appendDurable(call, newEvent(1), 'no-stream')).toMatchObject({ ok: true });
        await store.appendDurable(call, newEvent(2), 0);
        expect(await store.append(call, [newEvent(2)], 0)).toMatchObject({ ok: true, revision: 1 });
        expect(await store.readStream(call)).toHaveLength(2);
      });

      test('lets exactly one of many concurrent outcomes of a call succeed, whichever way they are appended', async () => {
        await store.appendDurable(call, newEvent(0), 'no-stream');
        const racers = Array.from({ length: 30 }, (_, n) =>
          n % 3 === 0 ? store.append(call, [newEvent(n + 1)], 0) : store.appendDurable(call, newEvent(n + 1), 0),
        );
        expect((await Promise.all(racers)).filter(({ ok }) => ok)).toHaveLength(1);
        expect(await store.readStream(call)).toHaveLength(2);
      });

      test('delivers the events to subscribers in the order of the log', async () => {
        const { events, reached, stop } = collect(store, beginning);
        for (let n = 0; n < 3; n++) {
          await store.appendDurable(streamNamed(`call-${n}`), newEvent(2 * n), 'no-stream');
          await store.appendDurable(streamNamed(`call-${n}`), newEvent(2 * n + 1), 0);
        }
        await reached(6);
        await stop();
        expect(ascending(positions(events))).toBe(true);
        expect(new Set(ids(events)).size).toBe(6);
      });
    });

    describe('appending at the same time', () => {
      test('keeps a conflict from failing its neighbours', async () => {
        await appended(store, alpha, [newEvent(1)], 'no-stream');
        const results = await Promise.all(
          Array.from({ length: 300 }, (_, n) =>
            n % 3 === 0
              ? store.append(alpha, [newEvent(10 + n)], 'no-stream')
              : store.append(named(`beta-${n}`), [newEvent(10 + n)], 'no-stream'),
          ),
        );
        results.forEach((result, n) => {
          expect(result).toMatchObject(
            n % 3 === 0 ? { ok: false, conflict: { actual: 0 } } : { ok: true, revision: 0 },
          );
        });
        expect(await readWholeLog(store)).toHaveLength(201);
      });

      test('to one stream writes all events, each once', async () => {
        const results = await Promise.all(
          Array.from({ length: 50 }, (_, n) => store.append(alpha, [newEvent(n)], 'any')),
        );
        const revisions = results.map((result) => (result.ok ? result.revision : null));
        expect(revisions.toSorted((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 50 }, (_, n) => n));
        expect((await store.readStream(alpha)).map(({ revision }) => revision)).toEqual(
          Array.from({ length: 50 }, (_, n) => n),
        );
      });
    });

    describe('appending the same event ids again', () => {
      test.each<[string, ExpectedRevision]>([
        ['"no-stream"', 'no-stream'],
        ['"any"', 'any'],
      ])('to a new stream with %s changes nothing and returns the first result', async (_, expected) => {
        const events = [newEvent(1), newEvent(2)];
        const first = await store.append(alpha, events, expected);
        expect(await store.append(alpha, events, expected)).toEqual(first);
        expect(await readWholeLog(store)).toHaveLength(2);
      });

      test.each<[string, ExpectedRevision]>([
        ['the exact revision', 0],
        ['"any"', 'any'],
      ])('to an existing stream with %s changes nothing and returns the first result', async (_, expected) => {
        await appended(store, alpha, [newEvent(1)], 'no-stream');
        const first = await store.append(alpha, [newEvent(2)], expected);
        expect(await store.append(alpha, [newEvent(2)], expected)).toEqual(first);
        expect(await readWholeLog(store)).toHaveLength(2);
      });

      test.each<[string, ExpectedRevision]>([
        ['"no-stream"', 'no-stream'],
        ['"any"', 'any'],
      ])('with %s returns the first result also when others have been appended since', async (_, expected) => {
        const first = await store.append(alpha, [newEvent(1)], expected);
        await appended(store, alpha, [newEvent(2)], 0);
        await appended(store, beta, [newEvent(3)], 'no-stream');
        expect(await store.append(alpha, [newEvent(1)], expected)).toEqual(first);
        expect(await readWholeLog(store)).toHaveLength(3);
      });

      test('with the exact revision returns the first result also when others have been appended since', async () => {
        await appended(store, alpha, [newEvent(1)], 'no-stream');
        const first = await store.append(alpha, [newEvent(2), newEvent(3)], 0);
        await appended(store, alpha, [newEvent(4)], 2);
        expect(await store.append(alpha, [newEvent(2), newEvent(3)], 0)).toEqual(first);
        expect(ids(await store.readStream(alpha))).toEqual([1, 2, 3, 4].map((n) => eventId(n)));
      });

      test('at the same time writes one copy and returns the same result to all', async () => {
        const results = await Promise.all(
          Array.from({ length: 20 }, () => store.append(alpha, [newEvent(1)], 'no-stream')),
        );
        expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
        expect(await readWholeLog(store)).toHaveLength(1);
      });

      test('together with new ones never writes', async () => {
        await appended(store, alpha, [newEvent(1), newEvent(2)], 'no-stream');
        const mixed = await store.append(alpha, [newEvent(2), newEvent(3)], 1).catch(() => ({ ok: false }));
        expect(mixed.ok).toBe(false);
        expect(ids(await store.readStream(alpha))).toEqual([eventId(1), eventId(2)]);
      });
    });

    describe('an invalid append', () => {
      test.each([
        ['without any event', alpha, []],
        ['with an id that is not a UUID', alpha, [{ ...newEvent(1), id: 'first' }]],
        ['with a duplicate id', alpha, [newEvent(1), newEvent(1)]],
        ['with a stream without a name', streamNamed(''), [newEvent(1)]],
        ['with a stream name with NUL', streamNamed('alpha-\0'), [newEvent(1)]],
      ])('%s is rejected', async (_, stream, events) => {
        await expect(store.append(stream, events, 'any')).rejects.toThrow(Error);
        expect(await readWholeLog(store)).toEqual([]);
      });
    });

    describe('reading the log', () => {
      test('returns an empty list for a stream that does not exist', async () => {
        expect(await store.readStream(alpha)).toEqual([]);
      });

      test('returns an event with its whole envelope', async () => {
        const position = await appended(store, alpha, [newEvent(1, 'hello')], 'no-stream');
        const recorded = {
          id: eventId(1),
          stream: alpha,
          revision: 0,
          position,
          at: someInstant + 1,
          event: { type: 'OptionChanged', key: 'option 1', value: { text: 'hello' } },
        };
        expect(await store.readStream(alpha)).toMatchObject([recorded]);
        expect(await store.readAll(beginning, 10)).toMatchObject([recorded]);
      });

      test.each([
        ['line breaks and quotes', 'a\nb\r\n"c" \\ \u2028'],
        ['NUL', 'a\0b'],
        ['half a surrogate pair', 'a\ud83d'],
        ['emoji and Chinese', '👩‍👩‍👧 计费'],
        ['a megabyte', 'x'.repeat(1_000_000)],
      ])('returns text with %s unchanged', async (_, text) => {
        await appended(store, alpha, [newEvent(1, text)], 'no-stream');
        const [recorded] = await store.readStream(alpha);
        expect(recorded?.event).toEqual(newEvent(1, text).event);
      });

      test('returns a stream in pages too, from its start or after a revision, and no empty page', async () => {
        await appended(store, alpha, [newEvent(1), newEvent(2), newEvent(3)], 'no-stream');
        await appended(store, beta, [newEvent(4)], 'no-stream');
        const pages = async (...asked: Parameters<EventStore['streamPages']>): Promise<string[][]> => {
          const found = [];
          for await (const page of store.streamPages(...asked)) found.push(ids(page));
          return found;
        };
        expect(await pages(alpha)).toEqual([[eventId(1), eventId(2), eventId(3)]]);
        expect(await pages(alpha, 0)).toEqual([[eventId(2), eventId(3)]]);
        expect(await pages(alpha, 2)).toEqual([]);
        expect(await pages(named('gamma-3'))).toEqual([]);
      });

      test('distinguishes stream names of any alphabet', async () => {
        const names = ['username-müller', 'username-muller', 'username-张三', 'username-a"b,{c}\\', 'username-a\nb'];
        await Promise.all(names.map((name, n) => appended(store, named(name), [newEvent(n)], 'no-stream')));
        for (const [n, name] of names.entries()) expect(ids(await store.readStream(named(name)))).toEqual([eventId(n)]);
      });

      test('returns -1 as the head of an empty log', async () => {
        expect(await store.head()).toBe(-1);
        expect(await store.readAll(beginning, 10)).toEqual([]);
      });

      test('returns the position of the newest event as the head', async () => {
        await appended(store, alpha, [newEvent(1)], 'no-stream');
        const newest = await appended(store, beta, [newEvent(2)], 'no-stream');
        expect(await store.head()).toBe(newest);
      });

      test('returns the newest events oldest first, and no more than exist', async () => {
        expect(await store.readNewest(2)).toEqual([]);
        for (let n = 0; n < 5; n++) await appended(store, named(`alpha-${n}`), [newEvent(n)], 'no-stream');
        expect(ids(await store.readNewest(2))).toEqual([eventId(3), eventId(4)]);
        expect(ids(await store.readNewest(100))).toEqual(ids(await readWholeLog(store)));
      });

      test('estimates at least one event between two positions where there are any, and more for more events', async () => {
        for (let n = 0; n < 40; n++) await appended(store, alpha, [newEvent(n)], 'any');
        const log = await readWholeLog(store);
        const [first, middle, last] = [log[0], log[19], log[39]].map((event) => event?.position ?? beginning) as [
          Position,
          Position,
          Position,
        ];
        expect(store.estimateBetween(last, last)).toBe(0);
        expect(store.estimateBetween(last, first)).toBe(0);
        expect(store.estimateBetween(log[38]?.position ?? beginning, last)).toBeGreaterThan(0);
        expect(store.estimateBetween(beginning, middle)).toBeLessThan(store.estimateBetween(beginning, last));
        expect(store.estimateBetween(first, last)).toBeGreaterThanOrEqual(store.estimateBetween(middle, last));
      });

      test('returns the global order as the order of appending, across streams', async () => {
        await appended(store, alpha, [newEvent(1)], 'no-stream');
        await appended(store, beta, [newEvent(2)], 'no-stream');
        await appended(store, alpha, [newEvent(3)], 0);
        const log = await store.readAll(beginning, 10);
        expect(ids(log)).toEqual([eventId(1), eventId(2), eventId(3)]);
        expect(ascending(positions(log))).toBe(true);
      });

      test('returns the global order in pages that neither overlap nor omit anything', async () => {
        const events = Array.from({ length: 25 }, (_, n) => newEvent(n));
        for (const event of events) await appended(store, alpha, [event], 'any');
        const pages: Recorded[][] = [];
        let after: Position = beginning;
        for (;;) {
          const page = await store.readAll(after, 10);
          const last = page.at(-1);
          if (last === undefined) break;
          pages.push([...page]);
          after = last.position;
        }
        expect(pages.map((page) => page.length)).toEqual([10, 10, 5]);
        expect(ids(pages.flat())).toEqual(events.map(({ id }) => id));
      });
    });

    describe('the global order under load', () => {
      test('never changes before a position that was read', async () => {
        const writers = Array.from({ length: 20 }, async (_, writer) => {
          for (let n = 0; n < 15; n++)
            await appended(store, named(`alpha-${writer}`), [newEvent(n, 'x', writer)], 'any');
        });
        const seen: string[][] = [];
        let writing = true;
        const reader = (async () => {
          while (writing) {
            const log = ids(await store.readAll(beginning, 1_000));
            if (log.length > 0) seen.push(log);
            // Lets the writers go on where reading never waits.
            await new Promise(setImmediate);
          }
        })();
        await Promise.all(writers);
        writing = false;
        await reader;
        const final = ids(await readWholeLog(store));
        expect(final).toHaveLength(300);
        for (const prefix of seen) expect(final.slice(0, prefix.length)).toEqual(prefix);
      });
    });

    subscriptionContract(() => store, named);

    describe('an event of a type that only a newer release knows', () => {
      const refusal = { name: 'UnreadableEvent', type: 'CreditLent' };

      async function upgradedAndBack(): Promise<Position> {
        await appended(store, alpha, [newEvent(1), newEvent(2)], 'no-stream');
        const position = await appended(store, beta, [unknownEvent(3)], 'no-stream');
        await appended(store, alpha, [newEvent(4)], 'any');
        return position;
      }

      test('is never skipped: pages end before it, and from there reading is refused', async () => {
        const position = await upgradedAndBack();
        const page = await store.readAll(beginning, 100);
        expect(ids(page)).toEqual([eventId(1), eventId(2)]);
        const reading = store.readAll(page.at(-1)?.position ?? beginning, 100);
        await expect(reading).rejects.toMatchObject({ ...refusal, position });
      });

      test('ends a subscription with its type and position, after the preceding events', async () => {
        const position = await upgradedAndBack();
        const subscription = collect(store, beginning);
        await expect(subscription.reached(3)).rejects.toMatchObject({ ...refusal, position });
        expect(ids(subscription.events)).toEqual([eventId(1), eventId(2)]);
      });

      test('makes its stream unreadable, and no other', async () => {
        await upgradedAndBack();
        await expect(store.readStream(beta)).rejects.toMatchObject(refusal);
        expect(ids(await store.readStream(alpha))).toEqual([eventId(1), eventId(2), eventId(4)]);
      });
    });

    test('closing the store waits for the pending appends', async () => {
      const appends = Array.from({ length: 50 }, (_, n) => store.append(alpha, [newEvent(n)], 'any'));
      await store.close();
      expect((await Promise.all(appends)).every(({ ok }) => ok)).toBe(true);
    });
  });
}
