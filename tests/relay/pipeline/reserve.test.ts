import { describe, expect, test } from 'vitest';
import type { Shortage } from '../../../src/application/ports/quota-gate-ports.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import { noHeartbeat } from '../../../src/relay/delivery/heartbeats.js';
import { reserveCall } from '../../../src/relay/pipeline/reserve.js';
import { givenResolved, MemoryReservation } from '../../support/given/call-contexts.js';
import { someInstant } from '../../support/given/events.js';
import { settableClock } from '../../support/given/fixed-clock.js';

type Ports = Parameters<typeof reserveCall>[0];

function given(shortage: Shortage | null = null) {
  const reservation = new MemoryReservation();
  const asked: unknown[][] = [];
  const heartbeats: unknown[] = [];
  const beating = { ...noHeartbeat };
  const ports = {
    clock: settableClock(someInstant),
    directory: {
      settings: () => ({
        ...{ pingIntervalMs: 1000, streamOpenMs: 2000, flag: () => false },
        prices: { quotaPerUnit: '500000' },
      }),
    },
    meter: {
      async reserve(...order: unknown[]) {
        asked.push(order);
        return shortage === null ? { ok: true, reservation } : { ok: false, shortage };
      },
    },
    heartbeats: {
      begin(options: unknown) {
        heartbeats.push(options);
        return beating;
      },
    },
  } as unknown as Ports;
  return { ports, reservation, asked, heartbeats, beating };
}

describe('the reserve stage', () => {
  test('reserves for a call with an API key by its terms, and returns a context with the reservation', async () => {
    const { ports, reservation, asked } = given();
    const call = givenResolved();
    const before = { ...call };
    const reserved = await reserveCall(ports, call);
    const facts = { userId: 7, apiKeyId: 12, apiKeyName: 'ci', group: 'default', model: 'm', stream: false };
    expect(asked).toEqual([
      ['r1', { ...facts, path: '/v1/chat/completions' }, { unlimited: true, budget: null }, call.resolution.estimate],
    ]);
    expect(reserved).toEqual({ ...before, reservation, startedAt: someInstant });
    expect(call).toEqual(before);
  });

  test('names the playground for a signed-in user, with the whole balance available', async () => {
    const { ports, asked } = given();
    await reserveCall(ports, givenResolved({ apiKey: null, resolution: { group: 'vip' } }));
    expect(asked[0]?.slice(1, 3)).toMatchObject([
      { apiKeyId: null, apiKeyName: 'playground-vip', group: 'vip' },
      { unlimited: true, budget: null },
    ]);
  });

  test('refuses a call that its user cannot afford', async () => {
    const { ports } = given({ short: 'user', available: Quota(3) });
    const call = givenResolved();
    await expect(reserveCall(ports, call)).rejects.toMatchObject({ status: 403, code: 'insufficient_user_quota' });
  });

  test('starts a heartbeat for a stream only', async () => {
    const { ports, heartbeats, beating } = given();
    expect((await reserveCall(ports, givenResolved())).heartbeat).toBe(noHeartbeat);
    const call = givenResolved({ resolution: { stream: true } });
    expect((await reserveCall(ports, call)).heartbeat).toBe(beating);
    expect(heartbeats).toEqual([
      expect.objectContaining({ connection: call.connection, openAfterMs: 2000, intervalMs: 1000 }),
    ]);
  });
});
