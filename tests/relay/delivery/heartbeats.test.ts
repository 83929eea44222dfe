import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Heartbeat, openHeartbeats } from '../../../src/relay/delivery/heartbeats.js';

/* What is sent into a silent stream, and when, by a clock that the test moves. */

/** A caller's connection: it takes everything at once unless it is told not to. */
class Connection {
  readonly sent: string[] = [];
  pending = 0;
  ended = false;
  gone = false;
  takes = true;

  begin(type: string): void {
    this.sent.push(`begun ${type}`);
  }

  flush(): void {
    this.sent.push('flushed');
  }

  write(text: Buffer | string): boolean {
    this.sent.push(String(text));
    if (!this.takes) this.pending += text.length;
    return this.takes;
  }
}

const begun = 'begun text/event-stream; charset=utf-8';

beforeEach(() => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }));
afterEach(() => vi.useRealTimers());

interface World {
  readonly connection: Connection;
  readonly heartbeat: Heartbeat;
}

const heartbeats = () => {
  const opened = openHeartbeats();
  return (openAfterMs: number, intervalMs: number | null): World => {
    const connection = new Connection();
    const options = { connection, dialect: { keepAlive: 'beat' }, openAfterMs, intervalMs };
    return { connection, heartbeat: opened.begin(options) };
  };
};

describe('a silent stream', () => {
  test('is opened in time, and then never silent for longer than the interval', () => {
    const { connection, heartbeat } = heartbeats()(3000, 1000);
    vi.advanceTimersByTime(2700);
    expect([heartbeat.open, connection.sent]).toEqual([false, []]);
    vi.advanceTimersByTime(300);
    expect([heartbeat.open, connection.sent]).toEqual([true, [begun, 'beat']]);
    vi.advanceTimersByTime(3000);
    expect(connection.sent.length).toBeGreaterThanOrEqual(5);
  });

  test('is only opened where heartbeats are switched off', () => {
    const { connection } = heartbeats()(1000, null);
    vi.advanceTimersByTime(60_000);
    expect(connection.sent).toEqual([begun, 'flushed']);
  });

  test('whose answer begins in time is not opened by a heartbeat, but gets heartbeats between frames', () => {
    const { connection, heartbeat } = heartbeats()(1000, 1000);
    expect(heartbeat.takeOver()).toBe(false);
    for (let frames = 0; frames < 10; frames++) {
      vi.advanceTimersByTime(700);
      heartbeat.wrote();
    }
    expect(connection.sent).toEqual([]);
    vi.advanceTimersByTime(1400);
    expect(connection.sent).toEqual(['beat']);
  });

  test('that was opened reports so to its next owner, once', () => {
    const { heartbeat } = heartbeats()(400, 1000);
    vi.advanceTimersByTime(400);
    expect([heartbeat.takeOver(), heartbeat.open]).toEqual([true, false]);
  });

  test('of a stalled caller buffers one heartbeat, and no more', () => {
    const { connection } = heartbeats()(400, 400);
    connection.takes = false;
    vi.advanceTimersByTime(60_000);
    expect(connection.sent).toEqual([begun, 'beat']);
  });

  test.each<[string, (world: World) => void]>([
    ['its caller has disconnected', ({ connection }) => void Object.assign(connection, { gone: true })],
    ['the answer has ended', ({ connection }) => void Object.assign(connection, { ended: true })],
    ['it is stopped', ({ heartbeat }) => heartbeat.stop()],
  ])('gets no more heartbeats once %s, and the timer stops with the last of them', (_, ends) => {
    const begin = heartbeats();
    const worlds = [begin(400, 400), begin(400, 400)];
    vi.advanceTimersByTime(400);
    expect(vi.getTimerCount()).toBe(1);
    for (const world of worlds) ends(world);
    const before = worlds.map(({ connection }) => connection.sent.length);
    vi.advanceTimersByTime(5000);
    expect(worlds.map(({ connection }) => connection.sent.length)).toEqual(before);
    expect(vi.getTimerCount()).toBe(0);
  });
});
