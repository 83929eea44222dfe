import { beforeEach, describe, expect, test } from 'vitest';
import type { SessionProof, StepUpPurpose } from '../../../src/application/session-proof.js';
import { beginning } from '../../../src/domain/events/events.js';
import { Failure } from '../../../src/domain/kernel/failure.js';
import { UserId } from '../../../src/domain/kernel/ids.js';
import { Authenticator } from '../../support/gateway/authenticator.js';
import { someClient } from '../../support/gateway/sign-in.js';
import { root } from '../../support/memory/memory-node.js';
import { refusal } from '../../support/refusal.js';
import {
  alice,
  asUser,
  bob,
  enrol,
  minute,
  node,
  proven,
  session,
  site,
  totp,
  usersBeforeEachTest,
} from './second-factor-setting.js';

usersBeforeEachTest();

describe('step-up authentication', () => {
  const demand = (purpose: StepUpPurpose, stepUp: string | null, id = alice, browser = 'her browser') =>
    node.stepUps.demand(asUser(id), purpose, { session: browser, stepUp }, async () => {});

  test('without a second factor requires the password only', async () => {
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

  describe('of a user without a password', () => {
    let carol: UserId;
    const codeMailed = (): string => /\d{8}/.exec(node.mailer.sent.at(-1)?.text ?? '')?.[0] ?? '';
    const sendCode = (purpose: StepUpPurpose, network = 'home') =>
      node.stepUps.sendCode({ user: carol, session: session.session, purpose }, { network });
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

    test('requires a code by mail, valid once, for one purpose', async () => {
      await withMail();
      expect(await node.stepUps.methods(carol)).toEqual(['mail-code']);
      await sendCode('password');
      const code = codeMailed();
      await expect(proveByMail('email', code)).rejects.toThrow(refusal('email-code-wrong'));
      await expect(proveByMail('password', '00000000')).rejects.toThrow(refusal('email-code-wrong'));
      await demand('password', await proveByMail('password', code), carol);
      await expect(proveByMail('password', code)).rejects.toThrow(refusal('email-code-wrong'));
    });

    test('is limited: five wrong codes end one, and mails have the usual interval', async () => {
      await withMail();
      await sendCode('password');
      const code = codeMailed();
      for (let n = 0; n < 5; n++)
        await expect(proveByMail('password', '00000000')).rejects.toThrow(refusal('email-code-wrong'));
      await expect(proveByMail('password', code)).rejects.toThrow(refusal('email-code-wrong'));
      await expect(sendCode('password', 'elsewhere')).rejects.toThrow(refusal('too-many-attempts'));
    });

    test('or an address requires a recent session', async () => {
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

    test('permits one command', async () => {
      const ticket = await prove('password');
      await expect(demand('password', ticket)).resolves.toBeUndefined();
      await expect(demand('password', ticket)).rejects.toThrow(refusal('step-up-needed', { purpose: 'password' }));
    });

    test('permits one of two concurrent commands', async () => {
      const ticket = await prove('password');
      const both = await Promise.allSettled([demand('password', ticket), demand('password', ticket)]);
      expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    });

    describe('for a command that is refused', () => {
      const wrong = new Failure('email-code-wrong');
      const ordering = (ticket: string, order: () => Promise<unknown>) =>
        node.stepUps.demand(asUser(alice), 'email', { session: 'her browser', stepUp: ticket }, order);
      const refused = async (ticket: string, error: unknown = wrong) =>
        expect(ordering(ticket, () => Promise.reject(error))).rejects.toThrow(error as Error);
      const needed = refusal('step-up-needed', { purpose: 'email' });

      test('permits another one, until one is accepted', async () => {
        const ticket = await prove('email');
        await refused(ticket);
        await refused(ticket);
        await expect(ordering(ticket, async () => 'accepted')).resolves.toBe('accepted');
        await expect(ordering(ticket, async () => 'again')).rejects.toThrow(needed);
      });

      test('permits five refusals, and ends with the sixth', async () => {
        const ticket = await prove('email');
        for (let n = 0; n < 6; n++) await refused(ticket);
        await expect(ordering(ticket, async () => 'late')).rejects.toThrow(needed);
      });

      test('is not extended', async () => {
        const ticket = await prove('email');
        node.clock.advance(4 * minute);
        await refused(ticket);
        node.clock.advance(minute);
        await expect(ordering(ticket, async () => 'late')).rejects.toThrow(needed);
      });

      test('stays invalid for another purpose, and is replaced by a newer proof', async () => {
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
        ['failed by an internal error', new Error('a bug')],
      ])('is consumed by a command that %s', async (_what, error) => {
        const ticket = await prove('email');
        await refused(ticket, error);
        await expect(ordering(ticket, async () => 'again')).rejects.toThrow(needed);
      });
    });

    test('is refused without a proof, for another purpose, for another user, or late', async () => {
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

    test('is not granted for a wrong code, nor for a passkey that does not verify its user', async () => {
      await expect(
        node.stepUps.prove(
          { user: alice, session: 'her browser', purpose: 'passkeys' },
          { kind: 'totp', code: '12345' },
          'home',
        ),
      ).rejects.toThrow(refusal('second-factor-wrong'));
      const sessionProof = { ...session, stepUp: await prove('passkeys') };
      const authenticator = new Authenticator(site.origin);
      const created = authenticator.create(await node.factorOrders.beginPasskey(asUser(alice), sessionProof, site));
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

    test.each<[string, (sessionProof: SessionProof) => Promise<unknown>, StepUpPurpose]>([
      ['an access token', (sessionProof) => node.users.issueAccessToken(asUser(alice), sessionProof), 'access-token'],
      [
        'a new password',
        (sessionProof) =>
          node.users.changeOwnProfile(
            asUser(alice),
            { username: null, password: 'new password', displayName: null },
            sessionProof,
          ),
        'password',
      ],
      [
        'turning the second factor off',
        (sessionProof) => node.factorOrders.turnOffTotp(asUser(alice), sessionProof),
        'second-factor',
      ],
      [
        'new recovery codes',
        (sessionProof) => node.factorOrders.renewRecoveryCodes(asUser(alice), sessionProof),
        'second-factor',
      ],
      [
        'another passkey',
        (sessionProof) => node.factorOrders.beginPasskey(asUser(alice), sessionProof, site),
        'passkeys',
      ],
      [
        'removing a passkey',
        (sessionProof) => node.factorOrders.removePasskey(asUser(alice), '0'.repeat(64), sessionProof),
        'passkeys',
      ],
      ['leaving', (sessionProof) => node.users.deleteOwnAccount(asUser(alice), sessionProof), 'delete-account'],
    ])('is required for %s', async (_name, order, purpose) => {
      await expect(order(session)).rejects.toThrow(refusal('step-up-needed', { purpose }));
      await expect(order({ ...session, stepUp: await prove(purpose) })).resolves.toBeDefined();
    });
  });
});
