import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { postgresCallProgress } from '../../src/adapters/call-progress.js';
import { migrate } from '../../src/adapters/database/migrate.js';
import type { CallProgress } from '../../src/domain/call/call-progress.js';
import { beginning, Position } from '../../src/domain/events/events.js';
import { CallId, ChannelId } from '../../src/domain/kernel/ids.js';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres/postgres.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createEmptyDatabase();
  await migrate(database.pool);
});
afterAll(() => database?.drop());
beforeEach(() => database.pool.query('truncate call_progress, call_progress_node'));

const progress: CallProgress = {
  attempts: [ChannelId(3), ChannelId(4)],
  unknownAttempts: 1,
  upstreamModel: 'mapped',
  delivered: { firstTokenMs: 12, outputTokens: 340 },
};
const at = (callId: string, position: number) => ({ callId: CallId(callId), position: Position(position) });
const newNode = () => postgresCallProgress(database.pool);

describe('the call progress that a node has noted', () => {
  test('is available to its successor: how far a call was, or that it had not been sent', async () => {
    const node = newNode();
    await node.begin(Position(10));
    await node.note(Position(20), [{ callId: CallId('sent'), progress }], []);
    const successor = newNode();
    await successor.begin(Position(30));
    const seen = await successor.lastSeen([at('sent', 12), at('quiet', 20), at('late', 21)]);
    expect([...seen]).toEqual([
      ['sent', { kind: 'sent', progress }],
      ['quiet', { kind: 'not-sent' }],
      ['late', { kind: 'unknown' }],
    ]);
  });

  test('says nothing about calls of another node', async () => {
    const first = newNode();
    await first.begin(beginning);
    await first.note(Position(5), [], []);
    const second = newNode();
    await second.begin(Position(10));
    await second.note(Position(20), [], []);
    // Reserved by the first, after its last note.
    expect((await newNode().lastSeen([at('c', 8)])).get(CallId('c'))).toEqual({ kind: 'unknown' });
    expect((await newNode().lastSeen([at('d', 15)])).get(CallId('d'))).toEqual({ kind: 'not-sent' });
  });

  test('is replaced by later notes, and removed with the call', async () => {
    const node = newNode();
    await node.begin(beginning);
    const later = { ...progress, delivered: { firstTokenMs: 12, outputTokens: 900 } };
    await node.note(Position(1), [{ callId: CallId('c'), progress }], []);
    await node.note(Position(1), [{ callId: CallId('c'), progress: later }], []);
    expect((await node.lastSeen([at('c', 1)])).get(CallId('c'))).toEqual({ kind: 'sent', progress: later });
    await node.note(Position(1), [], [CallId('c')]);
    expect((await node.lastSeen([at('c', 1)])).get(CallId('c'))).toEqual({ kind: 'not-sent' });
  });

  test('is removed by name, and when another node has taken over', async () => {
    const node = newNode();
    await node.begin(beginning);
    await node.note(
      Position(9),
      ['a', 'b'].map((id) => ({ callId: CallId(id), progress })),
      [],
    );
    await node.forget([CallId('a')]);
    const successor = newNode();
    await successor.begin(Position(9));
    expect((await successor.lastSeen([at('a', 1)])).get(CallId('a'))).toEqual({ kind: 'not-sent' });
    await successor.forgetOthers();
    expect((await successor.lastSeen([at('b', 1)])).get(CallId('b'))).toEqual({ kind: 'unknown' });
  });
});

test('a call without a note is unknown', async () => {
  expect((await newNode().lastSeen([at('c', 3)])).get(CallId('c'))).toEqual({ kind: 'unknown' });
});
