import { beforeEach, describe, expect, test } from 'vitest';
import type { Client } from '../../../src/application/ports/storage-ports.js';
import type { SessionProof } from '../../../src/application/session-proof.js';
import type { FactorProof } from '../../../src/application/sign-in/second-factor.js';
import { streams } from '../../../src/domain/events/events.js';
import { signIn, someClient } from '../../support/gateway/sign-in.js';
import { root } from '../../support/memory/memory-node.js';
import { refusal } from '../../support/refusal.js';
import {
  alice,
  asUser,
  bob,
  codeOf,
  enrol,
  halfIn,
  minute,
  node,
  proven,
  session,
  totp,
  usersBeforeEachTest,
} from './second-factor-setting.js';

usersBeforeEachTest();

describe('setting up an authenticator app', () => {
  test('needs a correct code, and shows ten recovery codes once', async () => {
    const { recoveryCodes } = await enrol(alice);
    expect(new Set(recoveryCodes).size).toBe(10);
    expect(await node.secondFactor.methods(alice)).toEqual(['totp', 'recovery-code']);
  });

  test('changes nothing before a correct code', async () => {
    const { secret } = await node.factorOrders.beginTotp(asUser(alice), await proven(alice, 'second-factor'));
    const wrong = codeOf(secret) === '000000' ? '000001' : '000000';
    await expect(node.factorOrders.enrolTotp(asUser(alice), session, { code: wrong, network: 'home' })).rejects.toThrow(
      refusal('second-factor-wrong'),
    );
    expect(await node.eventsOf(streams.factors(alice))).toEqual([]);
    expect((await signIn(node.identity, 'alice', 'correct horse')).user.id).toBe(alice);
  });

  test('ends after five wrong codes, after ten minutes, and for another session', async () => {
    const order = (sessionProof: SessionProof, code: string, network: string) =>
      node.factorOrders.enrolTotp(asUser(alice), sessionProof, { code, network });
    const { secret } = await node.factorOrders.beginTotp(asUser(alice), await proven(alice, 'second-factor'));
    await expect(order({ ...session, session: 'another' }, codeOf(secret), 'home')).rejects.toThrow(
      refusal('enrolment-over'),
    );
    for (let n = 0; n < 4; n++)
      await expect(order(session, '12345', `place ${n}`)).rejects.toThrow(refusal('second-factor-wrong'));
    await expect(order(session, codeOf(secret), 'home')).rejects.toThrow(refusal('enrolment-over'));
    const again = await node.factorOrders.beginTotp(asUser(alice), await proven(alice, 'second-factor'));
    node.clock.advance(10 * minute);
    await expect(order(session, codeOf(again.secret), 'home')).rejects.toThrow(refusal('enrolment-over'));
  });

  test('puts neither its secret nor a recovery code in an event', async () => {
    const { secret, recoveryCodes } = await enrol(alice);
    const log = JSON.stringify(await node.store.everything());
    for (const text of [secret, ...recoveryCodes]) expect(log).not.toContain(text);
  });
});

describe('signing in with a second factor', () => {
  test('is pending until the second factor, whichever way the password was proved', async () => {
    await enrol(alice);
    expect(await node.identity.login('alice', 'correct horse')).toMatchObject({ kind: 'second-factor' });
    expect(await node.identity.enter(alice, someClient)).toMatchObject({ kind: 'second-factor' });
    expect(await node.sessions.openOf(alice, await node.store.head())).toEqual([]);
  });

  test('is completed by a code, with a small clock difference allowed', async () => {
    const { secret } = await enrol(alice);
    for (const drift of [-30_000, 30_000]) {
      node.clock.advance(2 * minute);
      const code = codeOf(secret, node.clock.now() + drift);
      const entry = await node.identity.finish(await halfIn(), { kind: 'totp', code }, someClient);
      expect(entry).toMatchObject({ kind: 'signed-in', user: { id: alice } });
    }
    const late = codeOf(secret, node.clock.now() - 60_000);
    await expect(node.identity.finish(await halfIn(), { kind: 'totp', code: late }, someClient)).rejects.toThrow(
      refusal('second-factor-wrong'),
    );
  });

  test('accepts each code once, whichever of several concurrent requests sends it', async () => {
    const { secret } = await enrol(alice);
    const tickets = [await halfIn(), await halfIn(), await halfIn()];
    const proof = totp(secret);
    const outcomes = await Promise.all(
      tickets.map((ticket) =>
        node.identity.finish(ticket, proof, someClient).then(
          ({ kind }) => kind,
          ({ code }) => code,
        ),
      ),
    );
    expect(outcomes.toSorted()).toEqual(['second-factor-wrong', 'second-factor-wrong', 'signed-in']);
  });

  test('is completed by a recovery code, in any spelling, once', async () => {
    const [code = ''] = (await enrol(alice)).recoveryCodes;
    const written: FactorProof = { kind: 'recovery-code', code: ` ${code.toUpperCase().replace('-', ' ')} ` };
    expect(await node.identity.finish(await halfIn(), written, someClient)).toMatchObject({ kind: 'signed-in' });
    await expect(node.identity.finish(await halfIn(), written, someClient)).rejects.toThrow(
      refusal('second-factor-wrong'),
    );
  });

  test('refuses another user’s recovery code', async () => {
    await enrol(alice);
    const [ofBob = ''] = (await enrol(bob)).recoveryCodes;
    await expect(
      node.identity.finish(await halfIn(), { kind: 'recovery-code', code: ofBob }, someClient),
    ).rejects.toThrow(refusal('second-factor-wrong'));
  });

  test('ends once completed, after five wrong codes, and after five minutes', async () => {
    const { secret, recoveryCodes } = await enrol(alice);
    const used = await halfIn();
    await node.identity.finish(used, totp(secret), someClient);
    const guessed = await halfIn();
    for (let n = 0; n < 5; n++)
      await expect(
        node.identity.finish(guessed, { kind: 'totp', code: '12345' }, { ...someClient, network: `place ${n}` }),
      ).rejects.toThrow(refusal('second-factor-wrong'));
    const late = await halfIn();
    node.clock.advance(5 * minute);
    for (const ticket of [used, guessed, late, 'made up']) {
      const [, code = ''] = recoveryCodes;
      await expect(node.identity.finish(ticket, { kind: 'recovery-code', code }, someClient)).rejects.toThrow(
        refusal('half-sign-in-over'),
      );
    }
  });

  describe('while attackers with the password guess its codes', () => {
    const from = (network: string): Client => ({ network, userAgent: 'Test/1.0' });
    const finish = async (proof: FactorProof, network: string) =>
      node.identity.finish(await halfIn(), proof, from(network));
    let secret: string;
    let recoveryCodes: readonly string[];

    beforeEach(async () => {
      ({ secret, recoveryCodes } = await enrol(alice));
      await finish(totp(secret), '192.0.2.7');
      node.clock.advance(minute);
      // Each from a network of its own, with the password as always.
      let looked = 0;
      for (let n = 0; n < 300; n++) {
        const network = `2001:${n.toString(16)}:0:1::/64`;
        const entry = await node.identity.enter(alice, from(network));
        if (entry.kind !== 'second-factor') throw new Error('no second factor was asked for');
        const guess = node.identity.finish(entry.ticket, { kind: 'totp', code: '12345' }, from(network));
        const code = await guess.then(
          () => '',
          (error: { code: string }) => error.code,
        );
        if (code === 'second-factor-wrong') looked++;
        else expect(code).toBe('too-many-attempts');
      }
      expect(looked).toBe(5);
    });

    test('notifies the owner, once', () => {
      expect(node.guesses).toEqual([[alice, 'factor']]);
    });

    test('counts failures separately for a network the owner has signed in from', async () => {
      await expect(finish({ kind: 'totp', code: '12345' }, '192.0.2.7')).rejects.toThrow(
        refusal('second-factor-wrong'),
      );
      expect(await finish(totp(secret), '192.0.2.7')).toMatchObject({ kind: 'signed-in' });
    });

    test('accepts a recovery code from anywhere at once', async () => {
      const [code = ''] = recoveryCodes;
      expect(await finish({ kind: 'recovery-code', code }, '198.51.100.7')).toMatchObject({ kind: 'signed-in' });
    });

    test('is unlocked by a new password', async () => {
      await node.users.replacePassword(alice, 'another horse');
      await node.caughtUp();
      const entry = await node.identity.login('alice', 'another horse', from('198.51.100.7'));
      if (entry.kind !== 'second-factor') throw new Error('no second factor was asked for');
      expect(await node.identity.finish(entry.ticket, totp(secret), from('198.51.100.7'))).toMatchObject({
        kind: 'signed-in',
      });
    });
  });

  test('is refused where the password was changed after the first step', async () => {
    const { secret } = await enrol(alice);
    const ticket = await halfIn();
    await node.users.edit(root, alice, {
      ...{ username: null, displayName: null, group: null, quota: null, role: null },
      password: 'set by root',
    });
    await node.caughtUp();
    const entry = await node.identity.finish(ticket, totp(secret), someClient);
    expect(entry.kind === 'signed-in' && (await node.identity.bySession(entry.token))).toBeNull();
  });

  test('is refused to a user that was disabled after the first step', async () => {
    const { secret } = await enrol(alice);
    const ticket = await halfIn();
    await node.users.manage(root, alice, 'disable');
    await node.caughtUp();
    await expect(node.identity.finish(ticket, totp(secret), someClient)).rejects.toThrow(refusal('user-disabled'));
  });
});

describe('resetting the second factors of a user', () => {
  test('is for root only', async () => {
    for (const role of ['ordinary', 'admin'] as const)
      await expect(node.factorOrders.reset({ id: bob, role }, alice)).rejects.toThrow(refusal('role-too-low'));
  });

  test('makes the password sufficient, and ends existing sessions', async () => {
    const { secret } = await enrol(alice);
    const entry = await node.identity.finish(await halfIn(), totp(secret), someClient);
    const token = entry.kind === 'signed-in' ? entry.token : '';
    // A row that is still there, as after a crash, is worth nothing either.
    Object.assign(node.sessions, { closeOlder: async () => {} });
    await node.factorOrders.reset(root, alice);
    await node.caughtUp();
    expect(await node.identity.bySession(token)).toBeNull();
    const fresh = await signIn(node.identity, 'alice', 'correct horse');
    expect(await node.identity.bySession(fresh.token)).toMatchObject({ id: alice });
  });
});

describe('where administrators are required to have a second factor', () => {
  beforeEach(async () => {
    await node.users.manage(root, alice, 'promote');
    await node.options.change(root, 'general_setting.admin_second_factor', 'true');
    await node.caughtUp();
  });

  test('an administrator without one has a user’s rights, with the reason, until it is set up', async () => {
    const { token } = await signIn(node.identity, 'alice', 'correct horse');
    const before = await node.identity.bySession(token);
    expect(before).toMatchObject({ role: 'ordinary', withheldRole: 'admin' });
    await expect(node.users.manage(before ?? root, bob, 'disable')).rejects.toThrow(refusal('second-factor-needed'));
    await enrol(alice);
    const after = await node.identity.bySession(token);
    expect(after).toMatchObject({ role: 'admin' });
    await expect(node.users.manage(after ?? root, bob, 'disable')).resolves.toBeDefined();
  });

  test('an access token does not circumvent it', async () => {
    const { token } = await node.users.issueAccessToken({ id: alice, role: 'admin' });
    await node.caughtUp();
    expect(await node.identity.byAccessToken(token)).toMatchObject({ role: 'ordinary' });
  });

  test('other users are not affected', async () => {
    const { user } = await signIn(node.identity, 'bob', 'correct horse');
    expect(user).not.toHaveProperty('withheldRole');
  });
});
