import { Secret, TOTP } from 'otpauth';
import { beforeEach, describe, expect, test } from 'vitest';
import type { SessionProof, StepUpPurpose } from '../../../src/application/asking.js';
import type { Client } from '../../../src/application/ports/storage-ports.js';
import type { FactorProof } from '../../../src/application/sign-in/second-factor.js';
import { beginning, streams } from '../../../src/domain/events/events.js';
import { Failure } from '../../../src/domain/kernel/failure.js';
import { UserId } from '../../../src/domain/kernel/ids.js';
import { Authenticator } from '../../support/gateway/authenticator.js';
import { signIn, someClient } from '../../support/gateway/sign-in.js';
import { type MemoryNode, openMemoryNode, root } from '../../support/memory/memory-node.js';
import { refusal } from '../../support/refusal.js';

const site = { origin: 'https://gateway.example' };
const session: SessionProof = { session: 'her browser', stepUp: null };
const minute = 60_000;

let node: MemoryNode;
let alice: UserId;
let bob: UserId;

const asUser = (id: UserId) => ({ id, role: 'ordinary' }) as const;
const newUser = async (username: string): Promise<UserId> =>
  (await node.users.create(root, { username, password: 'correct horse', displayName: '' })).id;

beforeEach(async () => {
  node = await openMemoryNode();
  alice = await newUser('alice');
  bob = await newUser('bob');
  await node.caughtUp();
});

/** With what an order is given that a password has just been shown for. */
const proven = async (id: UserId, purpose: StepUpPurpose): Promise<SessionProof> => {
  if ((await node.stepUps.methods(id)).includes('totp')) return { ...session, stepUp: 'unknown' };
  const proof = { kind: 'password', password: 'correct horse' } as const;
  return {
    ...session,
    stepUp: await node.stepUps.prove({ user: id, session: session.session, purpose }, proof, 'home'),
  };
};

const codeOf = (secret: string, at: number = node.clock.now()): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: at });

/** Turns the second factor on; a minute later its codes count. */
async function enrol(id: UserId): Promise<{ secret: string; recoveryCodes: readonly string[] }> {
  const { secret } = await node.factorOrders.beginTotp(asUser(id), await proven(id, 'second-factor'));
  const { recoveryCodes } = await node.factorOrders.enrolTotp(asUser(id), session, {
    code: codeOf(secret),
    place: 'home',
  });
  await node.caughtUp();
  node.clock.advance(minute);
  return { secret, recoveryCodes };
}

const totp = (secret: string): FactorProof => ({ kind: 'totp', code: codeOf(secret) });

async function addPasskey(id: UserId, authenticator = new Authenticator(site.origin)): Promise<Authenticator> {
  const question = await node.factorOrders.beginPasskey(asUser(id), await proven(id, 'passkeys'), site);
  await node.factorOrders.addPasskey(asUser(id), session, { name: 'phone', response: authenticator.create(question) });
  await node.caughtUp();
  return authenticator;
}

/** The ticket of a sign-in that waits for its second factor. */
async function halfIn(login = 'alice'): Promise<string> {
  const entry = await node.identity.login(login, 'correct horse', someClient);
  if (entry.kind !== 'second-factor') throw new Error('no second factor was asked for');
  return entry.ticket;
}

describe('setting up an authenticator app', () => {
  test('is done by a right code, and tells ten recovery codes once', async () => {
    const { recoveryCodes } = await enrol(alice);
    expect(new Set(recoveryCodes).size).toBe(10);
    expect(await node.secondFactor.methods(alice)).toEqual(['totp', 'recovery-code']);
  });

  test('changes nothing until there was a right code', async () => {
    const { secret } = await node.factorOrders.beginTotp(asUser(alice), await proven(alice, 'second-factor'));
    const wrong = codeOf(secret) === '000000' ? '000001' : '000000';
    await expect(node.factorOrders.enrolTotp(asUser(alice), session, { code: wrong, place: 'home' })).rejects.toThrow(
      refusal('second-factor-wrong'),
    );
    expect(await node.eventsOf(streams.factors(alice))).toEqual([]);
    expect((await signIn(node.identity, 'alice', 'correct horse')).user.id).toBe(alice);
  });

  test('is over after five wrong codes, after ten minutes, and for another session', async () => {
    const order = (asking: SessionProof, code: string, place: string) =>
      node.factorOrders.enrolTotp(asUser(alice), asking, { code, place });
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

  test('leaves neither its secret nor a recovery code in an event', async () => {
    const { secret, recoveryCodes } = await enrol(alice);
    const log = JSON.stringify(await node.store.everything());
    for (const text of [secret, ...recoveryCodes]) expect(log).not.toContain(text);
  });
});

describe('signing in with a second factor', () => {
  test('by password is half done, at every door', async () => {
    await enrol(alice);
    expect(await node.identity.login('alice', 'correct horse')).toMatchObject({ kind: 'second-factor' });
    expect(await node.identity.enter(alice, someClient)).toMatchObject({ kind: 'second-factor' });
    expect(await node.sessions.openOf(alice, await node.store.head())).toEqual([]);
  });

  test('is finished by a code, a clock that is a little off allowed', async () => {
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

  test('takes each code once, whoever brings it at the same time', async () => {
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

  test('is finished by a recovery code, as people write it, once', async () => {
    const [code = ''] = (await enrol(alice)).recoveryCodes;
    const written: FactorProof = { kind: 'recovery-code', code: ` ${code.toUpperCase().replace('-', ' ')} ` };
    expect(await node.identity.finish(await halfIn(), written, someClient)).toMatchObject({ kind: 'signed-in' });
    await expect(node.identity.finish(await halfIn(), written, someClient)).rejects.toThrow(
      refusal('second-factor-wrong'),
    );
  });

  test('does not take another user’s recovery code', async () => {
    await enrol(alice);
    const [ofBob = ''] = (await enrol(bob)).recoveryCodes;
    await expect(
      node.identity.finish(await halfIn(), { kind: 'recovery-code', code: ofBob }, someClient),
    ).rejects.toThrow(refusal('second-factor-wrong'));
  });

  test('is over once finished, after five wrong codes, and after five minutes', async () => {
    const { secret, recoveryCodes } = await enrol(alice);
    const used = await halfIn();
    await node.identity.finish(used, totp(secret), someClient);
    const guessed = await halfIn();
    for (let n = 0; n < 5; n++)
      await expect(
        node.identity.finish(guessed, { kind: 'totp', code: '12345' }, { ...someClient, place: `place ${n}` }),
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

  describe('while strangers who know the password guess its codes', () => {
    const from = (place: string): Client => ({ place, userAgent: 'Test/1.0' });
    const finish = async (proof: FactorProof, place: string) =>
      node.identity.finish(await halfIn(), proof, from(place));
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

    test('the owner is told, once', () => {
      expect(node.guesses).toEqual([[alice, 'factor']]);
    });

    test('a place the owner has come in from goes by its own failures', async () => {
      await expect(finish({ kind: 'totp', code: '12345' }, '192.0.2.7')).rejects.toThrow(
        refusal('second-factor-wrong'),
      );
      expect(await finish(totp(secret), '192.0.2.7')).toMatchObject({ kind: 'signed-in' });
    });

    test('a recovery code lets in from anywhere at once', async () => {
      const [code = ''] = recoveryCodes;
      expect(await finish({ kind: 'recovery-code', code }, '198.51.100.7')).toMatchObject({ kind: 'signed-in' });
    });

    test('a new password ends what they have cost', async () => {
      await node.users.replacePassword(alice, 'another horse');
      await node.caughtUp();
      const entry = await node.identity.login('alice', 'another horse', from('198.51.100.7'));
      if (entry.kind !== 'second-factor') throw new Error('no second factor was asked for');
      expect(await node.identity.finish(entry.ticket, totp(secret), from('198.51.100.7'))).toMatchObject({
        kind: 'signed-in',
      });
    });
  });

  test('opens nothing that lasts where the password was changed after the first half', async () => {
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

  test('is shut to whoever was disabled after the first half', async () => {
    const { secret } = await enrol(alice);
    const ticket = await halfIn();
    await node.users.manage(root, alice, 'disable');
    await node.caughtUp();
    await expect(node.identity.finish(ticket, totp(secret), someClient)).rejects.toThrow(refusal('user-disabled'));
  });
});

describe('a passkey', () => {
  const enterBy = async (authenticator: Authenticator, behaviour: Parameters<Authenticator['get']>[1] = {}) =>
    node.identity.enterByPasskey(authenticator.get(await node.identity.passkeyOptions(site), behaviour), someClient);

  test('is a door of its own, with a second factor too', async () => {
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

  test('whose copy has been used is refused, and the operator is told', async () => {
    const authenticator = await addPasskey(alice);
    const copy = new Authenticator(site.origin, authenticator);
    await enterBy(authenticator);
    await enterBy(authenticator);
    await node.caughtUp();
    await expect(enterBy(copy)).rejects.toThrow(refusal('passkey-counter-behind'));
    expect(node.warned).toEqual([{ user: alice }]);
  });

  test('that was removed opens nothing any more', async () => {
    const authenticator = await addPasskey(alice);
    const [passkey = ''] = (await node.factors.of(alice)).factors.passkeys.keys();
    await node.factorOrders.removePasskey(asUser(alice), passkey, await proven(alice, 'passkeys'));
    await node.caughtUp();
    await expect(enterBy(authenticator)).rejects.toThrow(refusal('passkey-refused'));
  });

  test('of one user is never another’s', async () => {
    const authenticator = await addPasskey(alice);
    await expect(addPasskey(bob, authenticator)).rejects.toThrow(refusal('passkey-taken'));
    expect(await enterBy(authenticator)).toMatchObject({ user: { id: alice } });
  });

  test('is added only by the session that was asked, and at the site it was asked at', async () => {
    const authenticator = new Authenticator(site.origin);
    const ask = async () => node.factorOrders.beginPasskey(asUser(alice), await proven(alice, 'passkeys'), site);
    const add = (id: UserId, asking: SessionProof, response: string) =>
      node.factorOrders.addPasskey(asUser(id), asking, { name: 'phone', response });
    for (const added of [
      add(alice, { ...session, session: 'another' }, authenticator.create(await ask())),
      add(bob, session, authenticator.create(await ask())),
      add(alice, session, authenticator.create(await ask(), { origin: 'https://evil.example' })),
      add(alice, session, authenticator.create(await ask(), { relyingParty: 'evil.example' })),
    ])
      await expect(added).rejects.toThrow(refusal('passkey-refused'));
  });

  test('is named in words, which are in no event', async () => {
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

  test('is a second factor where there is one, for its own user and sign-in', async () => {
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

describe('a step-up', () => {
  const demand = (purpose: StepUpPurpose, stepUp: string | null, id = alice, browser = 'her browser') =>
    node.stepUps.demand(asUser(id), purpose, { session: browser, stepUp }, async () => {});

  test('without a second factor is the password, and nothing else', async () => {
    await expect(demand('password', null)).rejects.toThrow(refusal('step-up-needed', { purpose: 'password' }));
    const { stepUp } = await proven(alice, 'password');
    await expect(demand('email', stepUp)).rejects.toThrow(refusal('step-up-needed'));
    await expect(demand('password', stepUp, alice, 'another browser')).rejects.toThrow(refusal('step-up-needed'));
    await demand('password', stepUp);
    await expect(demand('password', stepUp)).rejects.toThrow(refusal('step-up-needed'));
    await expect(
      node.stepUps.prove({ user: alice, session: 'her browser', purpose: 'password' }, totp('AAAA'), 'home'),
    ).rejects.toThrow(refusal('second-factor-off'));
  });

  describe('of who has no password', () => {
    let carol: UserId;
    const codeMailed = (): string => /\d{8}/.exec(node.mailer.sent.at(-1)?.text ?? '')?.[0] ?? '';
    const sendCode = (purpose: StepUpPurpose, place = 'home') =>
      node.stepUps.sendCode({ user: carol, session: session.session, purpose }, { place });
    const proveByMail = (purpose: StepUpPurpose, code: string) =>
      node.stepUps.prove({ user: carol, session: session.session, purpose }, { kind: 'mail-code', code }, 'home');

    beforeEach(async () => {
      carol = UserId(4_711);
      await node.users.register(
        { id: carol, username: 'carol', displayName: 'Carol', passwordSecret: null, role: 'ordinary' },
        [],
      );
      await node.caughtUp();
    });

    const withMail = async (): Promise<void> => {
      await node.users.bindings.changeEmail(carol, 'carol@mail.example');
      await node.options.change(root, 'SMTPServer', 'mail.example');
      await node.options.change(root, 'SMTPFrom', 'gate@mail.example');
      await node.caughtUp();
    };

    test('is a code by mail, good once, for one purpose', async () => {
      await withMail();
      expect(await node.stepUps.methods(carol)).toEqual(['mail-code']);
      await sendCode('password');
      const code = codeMailed();
      await expect(proveByMail('email', code)).rejects.toThrow(refusal('email-code-wrong'));
      await expect(proveByMail('password', '00000000')).rejects.toThrow(refusal('email-code-wrong'));
      await demand('password', await proveByMail('password', code), carol);
      await expect(proveByMail('password', code)).rejects.toThrow(refusal('email-code-wrong'));
    });

    test('is bounded: five wrong codes end one, and mails are as far apart as others', async () => {
      await withMail();
      await sendCode('password');
      const code = codeMailed();
      for (let n = 0; n < 5; n++)
        await expect(proveByMail('password', '00000000')).rejects.toThrow(refusal('email-code-wrong'));
      await expect(proveByMail('password', code)).rejects.toThrow(refusal('email-code-wrong'));
      await expect(sendCode('password', 'elsewhere')).rejects.toThrow(refusal('too-many-attempts'));
    });

    test('nor an address is a session that has just been opened', async () => {
      const token = await node.sessions.open({ user: carol, since: beginning }, someClient);
      const fresh = node.sessions.idOf(token);
      expect(await node.stepUps.methods(carol)).toEqual([]);
      await demand('password', null, carol, fresh);
      await expect(demand('password', null, carol, 'another')).rejects.toThrow(refusal('sign-in-again-needed'));
      node.clock.advance(11 * minute);
      await expect(demand('password', null, carol, fresh)).rejects.toThrow(refusal('sign-in-again-needed'));
    });
  });

  describe('with a second factor', () => {
    let secret: string;
    const prove = (purpose: StepUpPurpose, id = alice, own = secret) =>
      node.stepUps.prove({ user: id, session: 'her browser', purpose }, totp(own), 'home');

    beforeEach(async () => {
      secret = (await enrol(alice)).secret;
    });

    test('is worth one order', async () => {
      const ticket = await prove('password');
      await expect(demand('password', ticket)).resolves.toBeUndefined();
      await expect(demand('password', ticket)).rejects.toThrow(refusal('step-up-needed', { purpose: 'password' }));
    });

    test('is worth one of two orders at the same time', async () => {
      const ticket = await prove('password');
      const both = await Promise.allSettled([demand('password', ticket), demand('password', ticket)]);
      expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    });

    describe('whose order is refused', () => {
      const wrong = new Failure('email-code-wrong');
      const ordering = (ticket: string, order: () => Promise<unknown>) =>
        node.stepUps.demand(asUser(alice), 'email', { session: 'her browser', stepUp: ticket }, order);
      const refused = async (ticket: string, error: unknown = wrong) =>
        expect(ordering(ticket, () => Promise.reject(error))).rejects.toThrow(error as Error);
      const needed = refusal('step-up-needed', { purpose: 'email' });

      test('is worth another one, until one is accepted', async () => {
        const ticket = await prove('email');
        await refused(ticket);
        await refused(ticket);
        await expect(ordering(ticket, async () => 'accepted')).resolves.toBe('accepted');
        await expect(ordering(ticket, async () => 'again')).rejects.toThrow(needed);
      });

      test('bears five refusals, and is over with the sixth', async () => {
        const ticket = await prove('email');
        for (let n = 0; n < 6; n++) await refused(ticket);
        await expect(ordering(ticket, async () => 'late')).rejects.toThrow(needed);
      });

      test('lasts no longer for it', async () => {
        const ticket = await prove('email');
        node.clock.advance(4 * minute);
        await refused(ticket);
        node.clock.advance(minute);
        await expect(ordering(ticket, async () => 'late')).rejects.toThrow(needed);
      });

      test('stays worth nothing for something else, and gives way to a newer proof', async () => {
        const ticket = await prove('email');
        let newer = '';
        await expect(
          ordering(ticket, async () => {
            node.clock.advance(minute);
            newer = await prove('email');
            throw wrong;
          }),
        ).rejects.toThrow(wrong);
        await expect(demand('password', newer)).rejects.toThrow(refusal('step-up-needed'));
        await expect(ordering(ticket, async () => 'former')).rejects.toThrow(needed);
        await expect(ordering(newer, async () => 'newer')).resolves.toBe('newer');
      });

      test.each([
        ['may have been carried out', new Failure('outcome-unknown')],
        ['failed by a fault of ours', new Error('a bug')],
      ])('is spent by an order that %s', async (_what, error) => {
        const ticket = await prove('email');
        await refused(ticket, error);
        await expect(ordering(ticket, async () => 'again')).rejects.toThrow(needed);
      });
    });

    test('is worth nothing without a proof, for something else, for somebody else, or late', async () => {
      const { secret: ofBob } = await enrol(bob);
      const needed = refusal('step-up-needed');
      await expect(demand('password', null)).rejects.toThrow(needed);
      await expect(demand('password', '')).rejects.toThrow(needed);
      await expect(demand('password', 'made up')).rejects.toThrow(needed);
      await expect(demand('password', await prove('password', bob, ofBob))).rejects.toThrow(needed);
      const ticket = await prove('password');
      await expect(demand('access-token', ticket)).rejects.toThrow(needed);
      await expect(demand('password', ticket, alice, 'another browser')).rejects.toThrow(needed);
      node.clock.advance(5 * minute);
      await expect(demand('password', ticket)).rejects.toThrow(needed);
    });

    test('is not given for a wrong code, nor for a passkey that does not know its user', async () => {
      await expect(
        node.stepUps.prove(
          { user: alice, session: 'her browser', purpose: 'passkeys' },
          { kind: 'totp', code: '12345' },
          'home',
        ),
      ).rejects.toThrow(refusal('second-factor-wrong'));
      const asking = { ...session, stepUp: await prove('passkeys') };
      const authenticator = new Authenticator(site.origin);
      const created = authenticator.create(await node.factorOrders.beginPasskey(asUser(alice), asking, site));
      await node.factorOrders.addPasskey(asUser(alice), session, { name: 'key', response: created });
      await node.caughtUp();
      const question = () =>
        node.stepUps.passkeyOptions({ user: alice, session: 'her browser', purpose: 'password' }, site);
      const by = (response: string, purpose: StepUpPurpose = 'password') =>
        node.stepUps.prove({ user: alice, session: 'her browser', purpose }, { kind: 'passkey', response }, 'home');
      const refused = refusal('passkey-refused');
      await expect(by(authenticator.get(await question(), { verified: false }))).rejects.toThrow(refused);
      await expect(by(authenticator.get(await question()), 'access-token')).rejects.toThrow(refused);
      await expect(by(JSON.stringify({ id: authenticator.credential }))).rejects.toThrow(refused);
      await expect(demand('password', await by(authenticator.get(await question())))).resolves.toBeUndefined();
    });

    test.each<[string, (asking: SessionProof) => Promise<unknown>, StepUpPurpose]>([
      ['an access token', (asking) => node.users.issueAccessToken(asUser(alice), asking), 'access-token'],
      [
        'a new password',
        (asking) =>
          node.users.changeOwnProfile(
            asUser(alice),
            { username: null, password: 'new password', displayName: null },
            asking,
          ),
        'password',
      ],
      ['turning it off', (asking) => node.factorOrders.turnOffTotp(asUser(alice), asking), 'second-factor'],
      ['new recovery codes', (asking) => node.factorOrders.renewRecoveryCodes(asUser(alice), asking), 'second-factor'],
      ['another passkey', (asking) => node.factorOrders.beginPasskey(asUser(alice), asking, site), 'passkeys'],
      [
        'removing a passkey',
        (asking) => node.factorOrders.removePasskey(asUser(alice), '0'.repeat(64), asking),
        'passkeys',
      ],
      ['leaving', (asking) => node.users.deleteOwnAccount(asUser(alice), asking), 'delete-account'],
    ])('is demanded for %s', async (_name, order, purpose) => {
      await expect(order(session)).rejects.toThrow(refusal('step-up-needed', { purpose }));
      await expect(order({ ...session, stepUp: await prove(purpose) })).resolves.toBeDefined();
    });
  });
});

describe('resetting the factors of a user who has lost them', () => {
  test('is for root', async () => {
    for (const role of ['ordinary', 'admin'] as const)
      await expect(node.factorOrders.reset({ id: bob, role }, alice)).rejects.toThrow(refusal('role-too-low'));
  });

  test('lets the password in alone, and ends what was signed in', async () => {
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

describe('where administrators are to have a second factor', () => {
  beforeEach(async () => {
    await node.users.manage(root, alice, 'promote');
    await node.options.change(root, 'general_setting.admin_second_factor', 'true');
    await node.caughtUp();
  });

  test('one without is as everybody else, and told why, until it is set up', async () => {
    const { token } = await signIn(node.identity, 'alice', 'correct horse');
    const before = await node.identity.bySession(token);
    expect(before).toMatchObject({ role: 'ordinary', withheldRole: 'admin' });
    await expect(node.users.manage(before ?? root, bob, 'disable')).rejects.toThrow(refusal('second-factor-needed'));
    await enrol(alice);
    const after = await node.identity.bySession(token);
    expect(after).toMatchObject({ role: 'admin' });
    await expect(node.users.manage(after ?? root, bob, 'disable')).resolves.toBeDefined();
  });

  test('an access token is no way around it', async () => {
    const { token } = await node.users.issueAccessToken({ id: alice, role: 'admin' });
    await node.caughtUp();
    expect(await node.identity.byAccessToken(token)).toMatchObject({ role: 'ordinary' });
  });

  test('others are left alone', async () => {
    const { user } = await signIn(node.identity, 'bob', 'correct horse');
    expect(user).not.toHaveProperty('withheldRole');
  });
});

describe('one’s own sessions', () => {
  test('are listed with the one that asks, and ended by their owner only', async () => {
    const here = await signIn(node.identity, 'alice', 'correct horse', someClient);
    const there = await signIn(node.identity, 'alice', 'correct horse', { ...someClient, userAgent: 'Phone/2.0' });
    const asking = node.identity.sessionOf(here.token);
    const list = await node.ownSessions.list(asUser(alice), asking);
    expect(list.map(({ current, client }) => [current, client.userAgent])).toEqual([
      [false, 'Phone/2.0'],
      [true, 'Test/1.0'],
    ]);
    const ended: string[] = [];
    node.identity.onEnd((id) => ended.push(id));
    const other = node.identity.sessionOf(there.token);
    await expect(node.ownSessions.end(asUser(bob), other)).rejects.toThrow(refusal('session-not-found'));
    await node.ownSessions.end(asUser(alice), other);
    expect(ended).toEqual([other]);
    expect(await node.identity.bySession(there.token)).toBeNull();
    expect(await node.identity.bySession(here.token)).not.toBeNull();
  });

  test('can all be ended but the one that asks', async () => {
    const tokens = await Promise.all(
      [1, 2, 3].map(async () => (await signIn(node.identity, 'alice', 'correct horse')).token),
    );
    const [here = '', ...others] = tokens;
    expect(await node.ownSessions.endOthers(asUser(alice), node.identity.sessionOf(here))).toBe(2);
    for (const token of others) expect(await node.identity.bySession(token)).toBeNull();
    expect(await node.identity.bySession(here)).not.toBeNull();
  });
});
