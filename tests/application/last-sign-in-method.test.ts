import fc from 'fast-check';
import { expect, test } from 'vitest';
import { streams } from '../../src/domain/events/events.js';
import type { VisitedProvider } from '../../src/domain/kernel/claim.js';
import { Failure } from '../../src/domain/kernel/failure.js';
import { Sealed, SecretId, UserId } from '../../src/domain/kernel/ids.js';
import { factorsDecider } from '../../src/domain/user/second-factor.js';
import { type MemoryNode, openMemoryNode, TestStore, trustedProof } from '../support/memory/memory-node.js';

/*
 * By what a user can come in stands in two streams. Whatever is given up at once, in whatever order the steps of it come,
 * and whichever appends fail: whoever had a way in has one.
 */

const alice = { id: UserId(7), role: 'ordinary' } as const;
const passkeyAt = (index: number): string => String(index).padStart(64, '0');
const added = {
  credential: Sealed('credential'),
  name: Sealed('phone'),
  publicKey: 'key',
  counter: 0,
  transports: [],
};

interface Ways {
  readonly password: boolean;
  readonly providers: readonly VisitedProvider[];
  readonly passkeys: number;
}

async function userWith(node: MemoryNode, { password, providers, passkeys }: Ways): Promise<void> {
  const newcomer = { ...alice, username: 'alice', displayName: 'x', passwordSecret: password ? SecretId('p') : null };
  await node.users.register(newcomer, []);
  for (const provider of providers) await node.users.bindings.link(alice.id, { provider, subject: '1', shown: 'x' });
  for (let index = 0; index < passkeys; index++)
    await node.handle(factorsDecider, streams.factors(alice.id), {
      type: 'AddPasskey',
      passkey: passkeyAt(index),
      added,
    });
}

async function waysOf(node: MemoryNode): Promise<Ways> {
  let password = false;
  const providers = new Set<VisitedProvider>();
  const passkeys = new Set<string>();
  for (const { event } of await node.store.everything()) {
    if (event.type === 'UserRegistered') password = event.passwordSecret !== null;
    else if (event.type === 'IdentityLinked') providers.add(event.provider as VisitedProvider);
    else if (event.type === 'IdentityUnlinked') providers.delete(event.provider as VisitedProvider);
    else if (event.type === 'PasskeyAdded') passkeys.add(event.passkey);
    else if (event.type === 'PasskeyRemoved') passkeys.delete(event.passkey);
  }
  return { password, providers: [...providers], passkeys: passkeys.size };
}

const count = ({ password, providers, passkeys }: Ways): number => Number(password) + providers.length + passkeys;

const ways: fc.Arbitrary<Ways> = fc.record({
  password: fc.boolean(),
  providers: fc.subarray<VisitedProvider>(['github', 'oidc']),
  passkeys: fc.integer({ min: 0, max: 2 }),
});

/** All that she has is given up at once, some of it twice. */
const ordersOf = (node: MemoryNode, { providers, passkeys }: Ways): (() => Promise<unknown>)[] => {
  const all = [
    ...providers.map((provider) => () => node.users.bindings.unlink(alice.id, provider)),
    ...Array.from(
      { length: passkeys },
      (_, index) => () => node.factorOrders.removePasskey(alice, passkeyAt(index), trustedProof),
    ),
  ];
  return [...all, ...all];
};

test('a user with a sign-in method keeps one, whatever is removed at once, and all others can be removed', async () => {
  await fc.assert(
    fc.asyncProperty(
      ways.filter((had) => count(had) > 0),
      fc.scheduler(),
      fc.array(fc.boolean(), { maxLength: 12 }),
      async (had, scheduler, failing) => {
        const store = new TestStore();
        const node = await openMemoryNode(store);
        await userWith(node, had);
        const orders = ordersOf(node, had);

        const fails = [...failing];
        store.turn = () => scheduler.schedule(Promise.resolve());
        store.beforeAppend = async () => {
          if (fails.pop() === true) throw new Failure('store-unavailable');
        };
        await scheduler.waitFor(Promise.allSettled(orders.map((order) => order())));
        store.turn = async () => {};
        store.beforeAppend = async () => {};
        expect(count(await waysOf(node))).toBeGreaterThan(0);

        for (const order of orders)
          await order().catch((error: unknown) => expect(error).toMatchObject({ code: 'last-door' }));
        expect(count(await waysOf(node))).toBe(1);
      },
    ),
    { numRuns: 500 },
  );
});
