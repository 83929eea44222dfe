import { describe, expect, test } from 'vitest';
import type { SessionProof } from '../../../src/application/session-proof.js';
import type { UserId } from '../../../src/domain/kernel/ids.js';
import { Authenticator } from '../../support/gateway/authenticator.js';
import { someClient } from '../../support/gateway/sign-in.js';
import { refusal } from '../../support/refusal.js';
import {
  addPasskey,
  alice,
  asUser,
  bob,
  enrol,
  halfIn,
  minute,
  node,
  proven,
  session,
  site,
  usersBeforeEachTest,
} from './second-factor-setting.js';

usersBeforeEachTest();

describe('a passkey', () => {
  const enterBy = async (authenticator: Authenticator, behaviour: Parameters<Authenticator['get']>[1] = {}) =>
    node.identity.enterByPasskey(authenticator.get(await node.identity.passkeyOptions(site), behaviour), someClient);

  test('is sufficient to sign in, also where there is a second factor', async () => {
    const authenticator = await addPasskey(alice);
    await enrol(alice);
    expect(await enterBy(authenticator)).toMatchObject({ kind: 'signed-in', user: { id: alice } });
  });

  const attacks: readonly [name: string, attack: (authenticator: Authenticator) => Promise<unknown>][] = [
    ['that does not know its user', (authenticator) => enterBy(authenticator, { verified: false })],
    ['shown to another site', (authenticator) => enterBy(authenticator, { origin: 'https://gateway.example.evil' })],
    ['made for another site', (authenticator) => enterBy(authenticator, { relyingParty: 'evil.example' })],
    ['that nobody has registered', () => enterBy(new Authenticator(site.origin))],
    [
      'whose answer is brought twice',
      async (authenticator) => {
        const answer = authenticator.get(await node.identity.passkeyOptions(site));
        await node.identity.enterByPasskey(answer, someClient);
        return node.identity.enterByPasskey(answer, someClient);
      },
    ],
    [
      'whose answer is brought by two at once',
      async (authenticator) => {
        const answer = authenticator.get(await node.identity.passkeyOptions(site));
        return Promise.all([1, 2].map(() => node.identity.enterByPasskey(answer, someClient)));
      },
    ],
    [
      'whose answer comes late',
      async (authenticator) => {
        const question = await node.identity.passkeyOptions(site);
        node.clock.advance(5 * minute);
        return node.identity.enterByPasskey(authenticator.get(question), someClient);
      },
    ],
    [
      'that answers a challenge of its own making',
      async (authenticator) =>
        node.identity.enterByPasskey(authenticator.get('{"challenge":"bWFkZSB1cA"}'), someClient),
    ],
    [
      'that answers a question which was asked for something else',
      async (authenticator) => {
        const question = await node.factorOrders.beginPasskey(asUser(alice), await proven(alice, 'passkeys'), site);
        return node.identity.enterByPasskey(authenticator.get(question), someClient);
      },
    ],
    [
      'whose signature is another one’s',
      async (authenticator) => {
        const other = new Authenticator(site.origin);
        const answer = JSON.parse(other.get(await node.identity.passkeyOptions(site)));
        const claimed = { ...answer, id: authenticator.credential, rawId: authenticator.credential };
        return node.identity.enterByPasskey(JSON.stringify(claimed), someClient);
      },
    ],
    ['that says nothing', () => node.identity.enterByPasskey('', someClient)],
    ['that says what is no answer', () => node.identity.enterByPasskey('{"response":{}}', someClient)],
  ];
  test.each(attacks)('%s is refused', async (_name, attack) => {
    const authenticator = await addPasskey(alice);
    await expect(attack(authenticator)).rejects.toThrow(refusal('passkey-refused'));
  });

  test('whose copy has been used is refused, and the operator is warned', async () => {
    const authenticator = await addPasskey(alice);
    const copy = new Authenticator(site.origin, authenticator);
    await enterBy(authenticator);
    await enterBy(authenticator);
    await node.caughtUp();
    await expect(enterBy(copy)).rejects.toThrow(refusal('passkey-counter-behind'));
    expect(node.warned).toEqual([{ user: alice }]);
  });

  test('that was removed is refused', async () => {
    const authenticator = await addPasskey(alice);
    const [passkey = ''] = (await node.factors.of(alice)).factors.passkeys.keys();
    await node.factorOrders.removePasskey(asUser(alice), passkey, await proven(alice, 'passkeys'));
    await node.caughtUp();
    await expect(enterBy(authenticator)).rejects.toThrow(refusal('passkey-refused'));
  });

  test('of one user is refused for another', async () => {
    const authenticator = await addPasskey(alice);
    await expect(addPasskey(bob, authenticator)).rejects.toThrow(refusal('passkey-taken'));
    expect(await enterBy(authenticator)).toMatchObject({ user: { id: alice } });
  });

  test('is added only by the session that requested it, and at the same site', async () => {
    const authenticator = new Authenticator(site.origin);
    const ask = async () => node.factorOrders.beginPasskey(asUser(alice), await proven(alice, 'passkeys'), site);
    const add = (id: UserId, sessionProof: SessionProof, response: string) =>
      node.factorOrders.addPasskey(asUser(id), sessionProof, { name: 'phone', response });
    for (const added of [
      add(alice, { ...session, session: 'another' }, authenticator.create(await ask())),
      add(bob, session, authenticator.create(await ask())),
      add(alice, session, authenticator.create(await ask(), { origin: 'https://evil.example' })),
      add(alice, session, authenticator.create(await ask(), { relyingParty: 'evil.example' })),
    ])
      await expect(added).rejects.toThrow(refusal('passkey-refused'));
  });

  test('has a display name, which is in no event', async () => {
    await addPasskey(alice);
    const log = JSON.stringify(await node.store.everything());
    expect(log).not.toContain('phone');
    const ask = async () => node.factorOrders.beginPasskey(asUser(bob), await proven(bob, 'passkeys'), site);
    for (const name of [' ', 'x'.repeat(51), 'a\u0000b'])
      await expect(
        node.factorOrders.addPasskey(asUser(bob), session, {
          name,
          response: new Authenticator(site.origin).create(await ask()),
        }),
      ).rejects.toThrow(refusal('invalid-field'));
  });

  test('is a second factor where one exists, for its own user and sign-in', async () => {
    const authenticator = await addPasskey(alice);
    const ofBob = await addPasskey(bob);
    await enrol(alice);
    await enrol(bob);
    const finish = (ticket: string, response: string) =>
      node.identity.finish(ticket, { kind: 'passkey', response }, someClient);
    const ticket = await halfIn();
    const question = await node.identity.secondFactorPasskeyOptions(ticket, site);
    const elsewhere = await halfIn();
    await expect(finish(elsewhere, authenticator.get(question))).rejects.toThrow(refusal('passkey-refused'));
    const again = await node.identity.secondFactorPasskeyOptions(ticket, site);
    await expect(finish(ticket, ofBob.get(again))).rejects.toThrow(refusal('passkey-refused'));
    const right = authenticator.get(await node.identity.secondFactorPasskeyOptions(ticket, site), { verified: false });
    expect(await finish(ticket, right)).toMatchObject({ kind: 'signed-in', user: { id: alice } });
  });
});
