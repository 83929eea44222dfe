import { describe, expect, test } from 'vitest';
import { passkeyDecider } from '../../../src/domain/kernel/claim.js';
import { Sealed, SecretId, UserId } from '../../../src/domain/kernel/ids.js';
import { type FactorEvent, factorsDecider, maxPasskeys, type Passkey } from '../../../src/domain/user/second-factor.js';
import { scenariosOf } from '../../support/given/given.js';

const given = scenariosOf(factorsDecider);
const root = UserId(1);

const secret = SecretId('totp secret');
const enrolled: FactorEvent = { type: 'TotpEnrolled', secret, step: 100, recoveryCodes: ['first', 'second'] };
const turnedOff: FactorEvent = { type: 'TotpTurnedOff' };
const passkey = (counter = 0): Passkey => ({
  credential: Sealed('credential'),
  name: Sealed('name'),
  publicKey: 'key',
  counter,
  transports: ['internal'],
});
const added = (name: string, counter = 0): FactorEvent => ({
  type: 'PasskeyAdded',
  passkey: name,
  ...passkey(counter),
});

describe('the second factor', () => {
  const enrol = { type: 'EnrolTotp', secret, step: 100, recoveryCodes: ['first', 'second'] } as const;

  test('is enabled once an authenticator app has been set up', () => given().when(enrol).thenRecorded(enrolled));
  test('is not set up over another one', () => given(enrolled).when(enrol).thenRefused('second-factor-on'));
  test('can be set up again once it is disabled', () => given(enrolled, turnedOff).when(enrol).thenRecorded(enrolled));
  test('is disabled once', () => given(enrolled).when({ type: 'TurnOffTotp' }).thenRecordedOnce(turnedOff));
  test('leaves no valid code when it is disabled', () => {
    given(enrolled, turnedOff).when({ type: 'UseTotpCode', step: 200 }).thenRefused('second-factor-off');
    given(enrolled, turnedOff)
      .when({ type: 'UseRecoveryCode', recoveryCode: 'first' })
      .thenRefused('second-factor-wrong');
    given(enrolled, turnedOff).when({ type: 'RenewRecoveryCodes', recoveryCodes: [] }).thenRefused('second-factor-off');
  });
});

describe('a one-time code', () => {
  const use = (step: number) => ({ type: 'UseTotpCode', step }) as const;
  const used = (step: number): FactorEvent => ({ type: 'TotpCodeUsed', step });

  test('is accepted if it is current', () => given(enrolled).when(use(101)).thenRecorded(used(101)));
  test('is accepted once', () => given(enrolled, used(101)).when(use(101)).thenRefused('second-factor-wrong'));
  test('of an earlier step than a used one is refused', () =>
    given(enrolled, used(102)).when(use(101)).thenRefused('second-factor-wrong'));
  test('that completed the setup is refused later', () =>
    given(enrolled).when(use(100)).thenRefused('second-factor-wrong'));
});

describe('a recovery code', () => {
  const use = (recoveryCode: string) => ({ type: 'UseRecoveryCode', recoveryCode }) as const;
  const used = (recoveryCode: string): FactorEvent => ({ type: 'RecoveryCodeUsed', recoveryCode });
  const renewed: FactorEvent = { type: 'RecoveryCodesRenewed', recoveryCodes: ['third'] };

  test('is accepted once, and leaves the others', () => {
    given(enrolled).when(use('first')).thenRecorded(used('first'));
    given(enrolled, used('first')).when(use('first')).thenRefused('second-factor-wrong');
    given(enrolled, used('first')).when(use('second')).thenRecorded(used('second'));
  });
  test('that was never issued is refused', () =>
    given(enrolled).when(use('made up')).thenRefused('second-factor-wrong'));
  test('is replaced by new ones', () => {
    given(enrolled)
      .when({ type: 'RenewRecoveryCodes', recoveryCodes: ['third'] })
      .thenRecorded(renewed);
    given(enrolled, renewed).when(use('second')).thenRefused('second-factor-wrong');
    given(enrolled, renewed).when(use('third')).thenRecorded(used('third'));
  });
});

describe('a passkey', () => {
  const use = (counter: number) => ({ type: 'UsePasskey', passkey: 'one', counter }) as const;
  const used = (counter: number): FactorEvent => ({ type: 'PasskeyUsed', passkey: 'one', counter });

  test('is added once', () =>
    given().when({ type: 'AddPasskey', passkey: 'one', added: passkey() }).thenRecordedOnce(added('one')));
  test('is refused beyond the limit per user', () => {
    const many = Array.from({ length: maxPasskeys }, (_, n) => added(`number ${n}`));
    given(...many)
      .when({ type: 'AddPasskey', passkey: 'one', added: passkey() })
      .thenRefused('too-many-passkeys', { allowed: maxPasskeys });
  });
  test('with a use counter must increase it', () => {
    given(added('one', 3)).when(use(4)).thenRecorded(used(4));
    given(added('one', 3), used(7)).when(use(7)).thenRefused('passkey-counter-behind');
    given(added('one', 3), used(7)).when(use(5)).thenRefused('passkey-counter-behind');
    given(added('one', 3)).when(use(0)).thenRefused('passkey-counter-behind');
  });
  test('without a use counter is accepted', () => given(added('one')).when(use(0)).thenNothing());
  test('is renamed, and removed once', () => {
    const name = Sealed('other name');
    given(added('one'))
      .when({ type: 'RenamePasskey', passkey: 'one', name })
      .thenRecorded({ type: 'PasskeyRenamed', passkey: 'one', name });
    given(added('one'))
      .when({ type: 'RemovePasskey', passkey: 'one' })
      .thenRecordedOnce({ type: 'PasskeyRemoved', passkey: 'one' });
  });
  test('that is removed is refused and has no name', () => {
    const gone = [added('one'), { type: 'PasskeyRemoved', passkey: 'one' }] as const;
    given(...gone)
      .when(use(1))
      .thenRefused('passkey-not-found');
    given(...gone)
      .when({ type: 'RenamePasskey', passkey: 'one', name: Sealed('x') })
      .thenRefused('passkey-not-found');
  });
  test('belongs to one user', () => {
    const alice = UserId(7);
    const claimed = { type: 'IdentityClaimed', userId: alice } as const;
    const claims = scenariosOf(passkeyDecider);
    claims().when({ type: 'Claim', userId: alice }).thenRecordedOnce(claimed);
    claims(claimed).when({ type: 'Claim', userId: root }).thenRefused('passkey-taken');
  });
});

describe('resetting the second factors', () => {
  const reset: FactorEvent = { type: 'FactorsReset', by: root };

  test('removes all of them, once', () => {
    given(enrolled, added('one')).when({ type: 'ResetFactors', by: root }).thenRecordedOnce(reset);
    given(enrolled, added('one'), reset).thenState(factorsDecider.initial);
  });
  test('of a user without any changes nothing', () => given().when({ type: 'ResetFactors', by: root }).thenNothing());
  test('leaves nothing that is accepted', () => expect(factorsDecider.initial.passkeys.size).toBe(0));
});
