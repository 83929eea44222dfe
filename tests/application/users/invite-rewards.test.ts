import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { giveInviteRewards } from '../../../src/application/reactions/give-invite-rewards.js';
import { registering } from '../../../src/application/users/registering.js';
import { type StreamName, streamKey, streams } from '../../../src/domain/events/events.js';
import { Failure } from '../../../src/domain/kernel/failure.js';
import { UserId } from '../../../src/domain/kernel/ids.js';
import { movementsOf } from '../../../src/domain/ledger/movements.js';
import { type Actor, userDecider } from '../../../src/domain/user/user.js';
import { type MemoryNode, openMemoryNode, root } from '../../support/memory/memory-node.js';
import { refusal } from '../../support/refusal.js';

const unit = 500_000;

let node: MemoryNode;
let lapsed: object[];

/** Gives somebody a code, and lets others register by it. */
const commands = ({ directory, users }: MemoryNode) =>
  registering({
    directory,
    users,
    codes: { check: async () => {}, redeem: async () => {} },
  });

async function setOption(key: string, value: string, at = node): Promise<void> {
  await at.options.change(root, key, value);
  await at.caughtUp();
}

async function register(username: string, inviteCode = '', at = node): Promise<Actor> {
  await commands(at).register({ username, password: 'correct-horse', email: '', emailCode: '', inviteCode });
  const found = (await at.store.everything()).find(
    ({ event }) => event.type === 'UserRegistered' && event.username === username,
  );
  return { id: UserId(streamKey(found?.stream ?? ('' as StreamName))), role: 'ordinary' };
}

const codeOf = async (actor: Actor, at = node): Promise<string> => (await at.users.invites.ownCode(actor)).code;

/** All that has happened is reacted to, from the log's beginning: as after a start, whatever was done before it. */
async function react(at = node): Promise<void> {
  const reaction = giveInviteRewards({ rewards: at.users.inviteRewards, lapsed: (facts) => void lapsed.push(facts) });
  for (const recorded of await at.store.everything()) {
    const stream = reaction.asks(recorded);
    if (stream !== null) await reaction.react(stream);
  }
}

const rewardsOf = async ({ id }: Actor, at = node) =>
  (await at.eventsOf(streams.user(id))).filter(({ type }) => type.startsWith('InviteReward'));

/** The log's first answer to the type of event is lost, or it does not take it. */
function fail(type: string, fate: 'refused' | 'lost'): void {
  const append = node.store.append.bind(node.store);
  node.store.append = async (stream, events, expected) => {
    if (!events.some(({ event }) => event.type === type)) return append(stream, events, expected);
    node.store.append = append;
    if (fate === 'lost') await append(stream, events, expected);
    throw new Failure('store-unavailable');
  };
}

beforeEach(async () => {
  node = await openMemoryNode();
  lapsed = [];
  await setOption('QuotaForInviter', String(2 * unit));
});

describe('an invitation', () => {
  test('rewards its inviter as soon as a user registers by it, and once', async () => {
    const alice = await register('alice');
    const bob = await register('bob', await codeOf(alice));
    const reward = { type: 'InviteRewardEarned', quota: 2 * unit, invitee: bob.id };
    expect(await rewardsOf(alice)).toEqual([reward]);
    await react();
    await react();
    expect(await rewardsOf(alice)).toEqual([reward]);
    expect(lapsed).toEqual([]);
  });

  test.each(['refused', 'lost'] as const)('whose reward the log has %s is rewarded later, and once', async (fate) => {
    const alice = await register('alice');
    const code = await codeOf(alice);
    fail('InviteRewardEarned', fate);
    const bob = await register('bob', code);
    // What is owed does not follow the option.
    await setOption('QuotaForInviter', '7');
    await react();
    await react();
    expect(await rewardsOf(alice)).toEqual([{ type: 'InviteRewardEarned', quota: 2 * unit, invitee: bob.id }]);
  });

  test('rewards several times for several users, and never where the operator says so', async () => {
    const alice = await register('alice');
    const code = await codeOf(alice);
    await register('bob', code);
    await setOption('QuotaForInviter', '0');
    const carol = await register('carol', code);
    await setOption('QuotaForInviter', '7');
    await register('dave', code);
    await react();
    expect(await rewardsOf(alice)).toMatchObject([{ quota: 2 * unit }, { quota: 7 }]);
    expect(await rewardsOf(carol)).toEqual([]);
  });

  test.each(['delete', 'erase'] as const)('of a user that leaves (%s) before the reward lapses', async (way) => {
    const alice = await register('alice');
    const code = await codeOf(alice);
    fail('InviteRewardEarned', 'refused');
    const bob = await register('bob', code);
    await (way === 'erase' ? node.users.erase(root, alice.id) : node.users.manage(root, alice.id, 'delete'));
    await react();
    expect(await rewardsOf(alice)).toEqual([]);
    expect(lapsed).toEqual([{ inviter: alice.id, quota: 2 * unit, invitee: bob.id }]);
  });

  test('of a deleted user is not rewarded', async () => {
    const alice = await register('alice');
    const code = await codeOf(alice);
    await node.users.manage(root, alice.id, 'delete');
    const bob = await register('bob', code);
    expect(await node.eventsOf(streams.user(bob.id))).toMatchObject([{ type: 'UserRegistered', inviter: null }]);
  });

  test('rewards registrations by identity providers too', async () => {
    const alice = await register('alice');
    const newcomer = { username: 'bob', displayName: 'x', passwordSecret: null, role: 'ordinary' } as const;
    const inviter = { id: alice.id, reward: 9 as never };
    const id = UserId(77);
    await node.users.register({ ...newcomer, id, inviter }, []);
    expect(await rewardsOf(alice)).toEqual([{ type: 'InviteRewardEarned', quota: 9, invitee: id }]);
  });
});

describe('transferring a reward', () => {
  let alice: Actor;
  beforeEach(async () => {
    alice = await register('alice');
    await register('bob', await codeOf(alice));
  });

  const transfer = (quota: number, key: string | null = null) => node.users.inviteRewards.transfer(alice, quota, key);
  const balance = async () => {
    await node.caughtUp();
    return node.gate.available(alice.id);
  };

  test('moves it into the balance, which did not include it', async () => {
    expect(await balance()).toBe(0);
    await transfer(unit + 1);
    expect(await balance()).toBe(unit + 1);
    // What is left is less than a unit.
    await expect(transfer(unit - 1)).rejects.toThrow(refusal('invite-transfer-too-small'));
    await expect(transfer(unit)).rejects.toThrow(refusal('invite-quota-short', { available: unit - 1 }));
    expect(await balance()).toBe(unit + 1);
  });

  test.each([
    ['0', 500_000, '＄1.000000 额度'],
    ['2500.5', 2501, '＄1.000200 额度'],
    ['0.5', 1, '＄2.000000 额度'],
  ])('is refused below a unit of %s', async (quotaPerUnit, minimum, allowed) => {
    if (quotaPerUnit !== '0') await setOption('QuotaPerUnit', quotaPerUnit);
    await expect(transfer(minimum - 1)).rejects.toThrow(
      refusal('invite-transfer-too-small', { min: minimum, allowed }),
    );
    await transfer(minimum);
    expect(await balance()).toBe(minimum);
  });

  test.each([Number.NaN, 1.5, Number.MAX_SAFE_INTEGER])('refuses %s as an invalid amount', async (quota) => {
    await expect(transfer(quota)).rejects.toThrow(refusal('quota-out-of-range'));
  });

  test('with one idempotency key is done once, even if the minimum has changed', async () => {
    await transfer(unit, 'key-1');
    await setOption('QuotaPerUnit', String(4 * unit));
    await transfer(unit, 'key-1');
    expect(await balance()).toBe(unit);
    await expect(transfer(unit + 1, 'key-1')).rejects.toThrow(refusal('idempotency-key-reused'));
  });

  test('whose outcome is unknown is done once when it is repeated', async () => {
    fail('InviteRewardTransferred', 'refused');
    await expect(transfer(unit)).rejects.toThrow(refusal('outcome-unknown'));
    await transfer(unit);
    await transfer(unit);
    expect(await balance()).toBe(2 * unit);
  });

  test('fifty times at once transfers the available reward, and no more', async () => {
    await setOption('QuotaPerUnit', '1');
    const each = Math.floor((2 * unit) / 9);
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, (_, n) => transfer(each, `key-${n}`)));
    const done = outcomes.filter(({ status }) => status === 'fulfilled').length;
    expect(await balance()).toBe(done * each);
    // Who lost every race asks again; in the end nine have been done, whoever they are.
    for (let n = 0; n < 50; n++) await transfer(each, `key-${n}`).catch(() => {});
    expect(await balance()).toBe(9 * each);
  });
});

type Step =
  | { readonly kind: 'register'; readonly by: number }
  | { readonly kind: 'option'; readonly reward: number }
  | { readonly kind: 'react' }
  | { readonly kind: 'delete' | 'erase'; readonly user: number }
  | { readonly kind: 'transfer'; readonly user: number; readonly quota: number; readonly key: string };

const user = fc.nat({ max: 3 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('register' as const), by: user }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('option' as const), reward: fc.nat({ max: 5 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('react' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('delete' as const, 'erase' as const), user }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('transfer' as const),
      user,
      quota: fc.integer({ min: -1, max: 8 }),
      key: fc.constantFrom('a', 'b', 'c'),
    }),
  },
);

/** What every account holds by the log, and what its movements sum to. */
async function accountsOf(at: MemoryNode): Promise<{ sum: bigint; invites: Map<UserId, bigint> }> {
  let sum = 0n;
  const invites = new Map<UserId, bigint>();
  for (const recorded of await at.store.everything())
    for (const posting of movementsOf(recorded).flatMap(({ postings }) => postings)) {
      sum += posting.amount;
      if (posting.owner === 'inviter') invites.set(posting.id, (invites.get(posting.id) ?? 0n) + posting.amount);
    }
  return { sum, invites };
}

describe('the rewards for invitations', () => {
  test('are paid once for each registered user, and sum to zero, with any concurrency and any failure', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 6 }),
        // Which appends fail, and whether the log has taken them all the same.
        fc.infiniteStream(fc.constantFrom('well', 'well', 'well', 'well', 'well', 'refused', 'lost')),
        fc.infiniteStream(fc.nat({ max: 3 })),
        async (rounds, fates, pauses) => {
          const at = await openMemoryNode();
          await setOption('QuotaPerUnit', '1', at);
          await setOption('QuotaForInviter', '3', at);
          const known: { actor: Actor; code: string }[] = [];
          const add = async (username: string, inviteCode = ''): Promise<void> => {
            const actor = await register(username, inviteCode, at);
            known.push({ actor, code: await codeOf(actor, at) });
          };
          await add('first');
          const append = at.store.append.bind(at.store);
          at.store.append = async (stream, events, expected) => {
            for (let turn = pauses.next().value ?? 0; turn > 0; turn--) await Promise.resolve();
            const fate = fates.next().value;
            if (fate === 'refused') throw new Failure('store-busy');
            const result = await append(stream, events, expected);
            if (fate === 'lost') throw new Failure('store-unavailable', { reason: 'the answer was lost' });
            return result;
          };
          let names = 0;
          const carryOut = async (each: Step): Promise<unknown> => {
            switch (each.kind) {
              case 'register':
                return add(`u${++names}`, known[each.by]?.code);
              case 'option':
                return setOption('QuotaForInviter', String(each.reward), at);
              case 'react':
                return react(at);
              case 'delete':
                return at.users.manage(root, known[each.user]?.actor.id ?? root.id, 'delete');
              case 'erase':
                return at.users.erase(root, known[each.user]?.actor.id ?? root.id);
              case 'transfer':
                return at.users.inviteRewards.transfer(known[each.user]?.actor ?? root, each.quota, each.key);
            }
          };
          for (const round of rounds)
            for (const outcome of await Promise.allSettled(round.map(carryOut)))
              if (outcome.status === 'rejected' && !(outcome.reason instanceof Failure)) throw outcome.reason;

          at.store.append = append;
          await react(at);
          const log = await at.store.everything();
          const promises = log.flatMap(({ stream, event }) =>
            event.type === 'InviteRewardPromised' ? [{ ...event, invitee: UserId(streamKey(stream)) }] : [],
          );
          const earnings = log.flatMap(({ stream, event }) =>
            event.type === 'InviteRewardEarned' ? [{ ...event, inviter: UserId(streamKey(stream)) }] : [],
          );
          for (const { inviter, quota, invitee } of promises) {
            const paid = earnings.filter((earning) => earning.invitee === invitee);
            const gone = (await at.eventsOf(streams.user(inviter))).some(({ type }) => type === 'UserDeleted');
            expect(inviter).not.toBe(invitee);
            if (paid.length !== 0 || !gone) expect(paid).toMatchObject([{ inviter, quota }]);
          }
          expect(earnings.length).toBeLessThanOrEqual(promises.length);
          const { sum, invites } = await accountsOf(at);
          expect(sum).toBe(0n);
          for (const [id, left] of invites) {
            expect(left).toBeGreaterThanOrEqual(0n);
            const events = await at.eventsOf(streams.user(id));
            const folded = events.reduce(
              (state, event) => userDecider.evolve(state, event as never),
              userDecider.initial,
            );
            expect(folded).toMatchObject({ inviteQuota: left });
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});
