import { expect, test } from 'vitest';
import { ApiKeyId, CallId, UserId } from '../../src/domain/kernel/ids.js';
import { Quota } from '../../src/domain/kernel/quota.js';
import { Witness } from '../../torture/simulation/witness.js';

/* The simulation's witness of the quota gate, before a gate that does whatever it is told to. */

const [userId, apiKeyId] = [UserId(7), ApiKeyId(12)];
const facts = { userId, apiKeyId, model: 'm' };

/** A user with 100; the gate grants and charges what it is asked for, and half of a cheap call. */
function world() {
  const witness = new Witness();
  let position = 0n;
  const wrote = (stream: string, type: string, data: object): void =>
    witness.wrote({ position: position++, stream, revision: type === 'CallReserved' ? 0 : 1, type, data });
  wrote('user-7', 'QuotaGranted', { quota: 100 });
  const obedient: Parameters<Witness['watch']>[0] = {
    admit: async ({ max }) => ({ admitted: true, granted: max }),
    extend: async () => true,
    charge: async (callId, cost) => (callId === CallId('cheap') ? Quota(cost / 2) : cost),
    chargeLeft: async (_, cost) => cost,
    settled: async () => {},
    drop: async () => {},
  };
  const gate = witness.watch(obedient);
  witness.reached(0 as never);
  const admit = (call: string, quota: number) => {
    const [max, min] = [Quota(quota), Quota(0)];
    const terms = { unlimited: true, budget: null };
    return gate.admit({ callId: CallId(call), userId, apiKeyId, terms, max, min, minOfKey: min });
  };
  return { witness, gate, wrote, admit };
}

test('the witness has nothing against reservations of what is free, and charges within them', async () => {
  const { witness, gate, wrote, admit } = world();
  await admit('a', 60);
  await admit('b', 40);
  wrote('call-a', 'CallReserved', { facts, reserved: 60 });
  await gate.charge(CallId('a'), Quota(30));
  wrote('call-a', 'CallSettled', { facts, reserved: 60, charged: 30 });
  await gate.settled(CallId('a'), Quota(30));
  await admit('c', 30);
  expect(witness.problems).toEqual([]);
});

test('the witness finds reservations and extensions of what is not free', async () => {
  const { witness, gate, admit } = world();
  await admit('a', 60);
  await admit('b', 41);
  await gate.extend(CallId('a'), Quota(70));
  expect(witness.problems).toEqual([
    '41 are reserved for b, and its user has 40 free',
    '10 are reserved for a, and its user has 0 free',
  ]);
});

test('the witness finds a charge below what was reserved for it, and one that its user does not have', async () => {
  const { witness, gate, admit } = world();
  await admit('cheap', 60);
  await admit('a', 40);
  await gate.charge(CallId('cheap'), Quota(60));
  await gate.charge(CallId('a'), Quota(80));
  expect(witness.problems).toEqual([
    'cheap is charged 30 of 60, with 60 reserved and 0 missing',
    'the charge of a leaves its user with -10',
  ]);
});

test('the witness finds a reservation that is written after the gate has given it up', async () => {
  const { witness, gate, wrote, admit } = world();
  await admit('a', 60);
  await gate.drop(CallId('a'));
  wrote('call-a', 'CallReserved', { facts, reserved: 60 });
  expect(witness.problems).toEqual(['the reservation of a is written, and nothing is held for it']);
});
