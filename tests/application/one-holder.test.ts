import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type StreamName, streams } from '../../src/domain/events/events.js';
import { type IdentityProvider, identityProviders } from '../../src/domain/kernel/claim.js';
import { Failure } from '../../src/domain/kernel/failure.js';
import { SecretId, UserId } from '../../src/domain/kernel/ids.js';
import { lookOf } from '../../src/domain/kernel/look-alike.js';
import { type User, type UserEvent, userDecider } from '../../src/domain/user/user.js';
import { type MemoryNode, openMemoryNode, root } from '../support/memory/memory-node.js';

/*
 * Whatever is bound, unbound, changed, deleted, erased and registered at once, and whatever appends fail meanwhile: a
 * name, an address or an account elsewhere never has two holders.
 */

type Order =
  | { readonly kind: 'register'; readonly name: string; readonly email: string | null; readonly subject: string | null }
  | { readonly kind: 'rename'; readonly user: number; readonly name: string }
  | { readonly kind: 'email'; readonly user: number; readonly email: string | null }
  | { readonly kind: 'link'; readonly user: number; readonly provider: IdentityProvider; readonly subject: string }
  | { readonly kind: 'unlink'; readonly user: number; readonly provider: IdentityProvider }
  | { readonly kind: 'delete'; readonly user: number }
  | { readonly kind: 'erase'; readonly user: number };

// Few of each, so that they meet; the two spellings look alike.
const name = fc.constantFrom('anna', 'Anna', 'bob');
const email = fc.constantFrom('a@mail.example', 'A@mail.example', 'b@mail.example');
const subject = fc.constantFrom('1', '2');
const provider = fc.constantFrom<IdentityProvider>('github', 'oidc');
const user = fc.nat({ max: 3 });
const none = fc.constant(null);

const order: fc.Arbitrary<Order> = fc.oneof(
  fc.record({
    kind: fc.constant('register' as const),
    name,
    email: fc.oneof(none, email),
    subject: fc.oneof(none, subject),
  }),
  fc.record({ kind: fc.constant('rename' as const), user, name }),
  fc.record({ kind: fc.constant('email' as const), user, email: fc.oneof(none, email) }),
  fc.record({ kind: fc.constant('link' as const), user, provider, subject }),
  fc.record({ kind: fc.constant('unlink' as const), user, provider }),
  fc.record({ kind: fc.constant('delete' as const), user }),
  fc.record({ kind: fc.constant('erase' as const), user }),
);

async function carryOut(node: MemoryNode, known: UserId[], order: Order): Promise<unknown> {
  const { users, ids } = node;
  if (order.kind === 'register') {
    const id = UserId(await ids.next());
    known.push(id);
    const identity =
      order.subject === null ? null : ({ provider: 'github', subject: order.subject, shown: 'x' } as const);
    // With it, every account elsewhere can be given up.
    const passwordSecret = SecretId('a password');
    const newcomer = { id, username: order.name, displayName: 'x', passwordSecret, role: 'ordinary' } as const;
    return users.register({ ...newcomer, email: order.email, identity }, []);
  }
  const id = known[order.user];
  if (id === undefined) return null;
  switch (order.kind) {
    case 'rename':
      return users.changeOwnProfile(
        { id, role: 'ordinary' },
        { username: order.name, password: null, displayName: null },
      );
    case 'email':
      return users.bindings.changeEmail(id, order.email);
    case 'link':
      return users.bindings.link(id, { provider: order.provider, subject: order.subject, shown: 'x' });
    case 'unlink':
      return users.bindings.unlink(id, order.provider);
    case 'delete':
      return users.manage(root, id, 'delete');
    case 'erase':
      return users.erase(root, id);
  }
}

/** Every name, address and account that a user who is not erased bears, as often as it is borne. */
async function borne(node: MemoryNode, known: readonly UserId[]): Promise<string[]> {
  const all: string[] = [];
  for (const id of known) {
    const events = await node.eventsOf(streams.user(id));
    const folded = events.reduce<User>(
      (state, event) => userDecider.evolve(state, event as UserEvent),
      userDecider.initial,
    );
    if (folded.status === 'absent' || folded.erased) continue;
    all.push(`name ${lookOf(folded.username)}`);
    if (folded.email !== null) all.push(`email ${folded.email}`);
    for (const provider of identityProviders)
      if (folded.identities[provider] !== undefined) all.push(`${provider} ${folded.identities[provider]}`);
  }
  return all;
}

const isExpected = (error: unknown): boolean => error instanceof Failure;

describe('a unique claim of a name, an address or an external identity', () => {
  test('has at most one holder, with any concurrency and any failure', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(order, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 6 }),
        // Which appends fail, and whether the log has taken them all the same.
        fc.infiniteStream(fc.constantFrom('well', 'well', 'well', 'well', 'well', 'refused', 'lost')),
        fc.infiniteStream(fc.nat({ max: 3 })),
        async (rounds, fates, pauses) => {
          const node = await openMemoryNode();
          const known: UserId[] = [];
          const append = node.store.append.bind(node.store);
          node.store.append = async (stream: StreamName, events, expected) => {
            for (let turn = pauses.next().value ?? 0; turn > 0; turn--) await Promise.resolve();
            const fate = fates.next().value;
            if (fate === 'refused') throw new Failure('store-busy');
            const result = await append(stream, events, expected);
            if (fate === 'lost') throw new Failure('store-unavailable', { reason: 'the answer was lost' });
            return result;
          };
          for (const round of rounds) {
            const outcomes = await Promise.allSettled(round.map((each) => carryOut(node, known, each)));
            for (const outcome of outcomes)
              if (outcome.status === 'rejected' && !isExpected(outcome.reason)) throw outcome.reason;
            const held = await borne(node, known);
            expect(held).toEqual([...new Set(held)]);
            // Claims that a failure has left behind are given up by now.
            node.clock.advance(61_000);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  test('is free again once its holder is erased', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(order, { maxLength: 12 }), async (orders) => {
        const node = await openMemoryNode();
        const known: UserId[] = [];
        for (const each of orders) await carryOut(node, known, each).catch(() => {});
        for (const id of known) await node.users.erase(root, id).catch(() => {});
        const id = UserId(await node.ids.next());
        const identity = { provider: 'github', subject: '1', shown: 'x' } as const;
        const newcomer = { id, username: 'anna', displayName: 'x', passwordSecret: null, role: 'ordinary' } as const;
        await node.users.register({ ...newcomer, email: 'a@mail.example', identity }, []);
        expect(await borne(node, [id])).toHaveLength(3);
      }),
      { numRuns: 100 },
    );
  });
});
