import { beforeEach, describe, expect, test } from 'vitest';
import { KnownKeptObjects } from '../../../src/application/memory/kept-objects.js';
import type { BackgroundCall } from '../../../src/application/ports/background-call-ports.js';
import type { CallSettled } from '../../../src/domain/call/call.js';
import type { KeptObject } from '../../../src/domain/call/kept-object.js';
import type { NewEvent } from '../../../src/domain/events/events.js';
import { CallId, ChannelId, UserId } from '../../../src/domain/kernel/ids.js';
import type { ReadModels } from '../../../src/projections/database.js';
import { someInstant } from '../../support/given/events.js';
import { settableClock } from '../../support/given/fixed-clock.js';

/* Whose it is what is newer than the read model, which has nothing here. */

const query = { select: () => query, where: () => query, execute: async () => [] };
const db = { selectFrom: () => query } as unknown as ReadModels;
const alice = UserId(1);
const bob = UserId(2);

let known: KnownKeptObjects;

const settled = (user: UserId, kept: readonly KeptObject[], input = 5): NewEvent<CallSettled> =>
  ({
    ...{ id: 'e', at: someInstant },
    event: { facts: { userId: user }, channelId: ChannelId(3), usage: { input, output: 2 }, kept },
  }) as unknown as NewEvent<CallSettled>;
const running = (callId: string, userId: UserId, responseId: string): BackgroundCall =>
  ({
    ...{ callId: CallId(callId), userId, channelId: ChannelId(3), responseId },
    ...{ since: someInstant, promptTokens: 5, model: 'm', course: { upstreamModel: null } },
  }) as unknown as BackgroundCall;
const owns = async (user: UserId, id: string) => (await known.ownedBy(user, [id])).has(id);
/** As many as are remembered of what was settled of late, and more. */
const settleMany = () => {
  for (let call = 0; call < 500; call++)
    known.note(
      CallId(`many-${call}`),
      settled(
        bob,
        Array.from({ length: 128 }, (_, n) => ({ kind: 'item', id: `msg_${call}_${n}` }) as const),
      ),
    );
};

beforeEach(() => {
  const clock = settableClock(someInstant);
  known = new KnownKeptObjects({ db, progress: { status: () => [] }, clock, days: () => 30 });
});

describe('a continued conversation', () => {
  const kept = [{ kind: 'conversation', id: 'c-1' }] as const;

  test('has the tokens of its last call, and remains that of its first user', async () => {
    known.note(CallId('a'), settled(alice, kept));
    known.note(CallId('b'), settled(alice, kept, 500));
    known.note(CallId('c'), settled(bob, kept, 9_000));
    expect((await known.ownedBy(alice, ['c-1'])).get('c-1')).toMatchObject({ callId: 'b', tokens: 502 });
    expect(await owns(bob, 'c-1')).toBe(false);
  });
});

describe('the owner of a response in the background', () => {
  test('is known while it runs, however many calls are settled meanwhile', async () => {
    known.noteBackground(running('a', alice, 'resp_a'));
    settleMany();
    expect([await owns(alice, 'resp_a'), await owns(bob, 'resp_a')]).toEqual([true, false]);
  });

  test('is known after its end, and only as one of those of late', async () => {
    const call = running('a', alice, 'resp_a');
    known.noteBackground(call);
    known.endBackground(call);
    expect(await owns(alice, 'resp_a')).toBe(true);
    settleMany();
    expect(await owns(alice, 'resp_a')).toBe(false);
  });

  test('remains the first user who got its id, whether that call was settled or runs', async () => {
    known.note(CallId('a'), settled(alice, [{ kind: 'response', id: 'resp_1' }]));
    known.noteBackground(running('b', bob, 'resp_1'));
    expect([await owns(alice, 'resp_1'), await owns(bob, 'resp_1')]).toEqual([true, false]);
    known.noteBackground(running('c', alice, 'resp_2'));
    known.noteBackground(running('d', bob, 'resp_2'));
    known.note(CallId('e'), settled(bob, [{ kind: 'response', id: 'resp_2' }]));
    known.endBackground(running('d', bob, 'resp_2'));
    expect([await owns(alice, 'resp_2'), await owns(bob, 'resp_2')]).toEqual([true, false]);
  });
});
