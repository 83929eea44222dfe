import { checkText, type TextBound } from '../kernel/bounds.js';
import type { Decider } from '../kernel/decider.js';
import { assertNever, Failure, invalidField } from '../kernel/failure.js';
import type { Sealed, SecretId, UserId } from '../kernel/ids.js';

/*
 * By what else than a password a user proves who they are. Stream `factors-{userId}`. The second factor is on while codes
 * by time (TOTP) are set up; recovery codes and passkeys then stand in for them. A passkey by itself is a way to sign
 * in, and asks nothing of who comes through another one.
 */

/** What a passkey has been named by its user. */
export const passkeyName: TextBound = { max: 50 };
/** A code that was typed. */
const typedCode: TextBound = { max: 64 };
/** JSON of an authenticator; keys after quantum computers are the largest known. */
const authenticatorAnswer: TextBound = { max: 32_768 };

/** Throws `invalid-field` for what cannot be a code. */
export const checkCode = (field: string, code: string): void => checkText(field, code, typedCode);

/** Throws `invalid-field` for what no authenticator can have said. */
export const checkAnswer = (field: string, answer: string): void => checkText(field, answer, authenticatorAnswer);

/** Throws `invalid-field` unless it can name a passkey: the keyed hash of its credential id. */
export function checkPasskeyId(field: string, passkey: string): void {
  if (!/^[0-9a-f]{64}$/.test(passkey)) throw invalidField(field, 'the id of a passkey');
}

export const recoveryCodeCount = 10;
export const maxPasskeys = 20;

/** What an authenticator has reported of a passkey. */
export interface Passkey {
  /** Sealed credential id, as the browser is to be shown it. */
  readonly credential: Sealed;
  readonly name: Sealed;
  /** COSE key, base64url. */
  readonly publicKey: string;
  /** Uses, as the authenticator counts them; 0: it does not count. */
  readonly counter: number;
  readonly transports: readonly string[];
}

export type FactorEvent =
  | {
      type: 'TotpEnrolled';
      secret: SecretId;
      /** The time step of the code that proved it was set up. */
      step: number;
      /** Keyed hashes. */
      recoveryCodes: readonly string[];
    }
  | { type: 'TotpCodeUsed'; step: number }
  | { type: 'TotpTurnedOff' }
  | { type: 'RecoveryCodesRenewed'; recoveryCodes: readonly string[] }
  | { type: 'RecoveryCodeUsed'; recoveryCode: string }
  /** `passkey`, here and below: keyed hash of the credential id. */
  | ({ type: 'PasskeyAdded'; passkey: string } & Passkey)
  | { type: 'PasskeyUsed'; passkey: string; counter: number }
  | { type: 'PasskeyRenamed'; passkey: string; name: Sealed }
  | { type: 'PasskeyRemoved'; passkey: string }
  /** Whoever has lost everything, or is gone, has none of it any more. */
  | { type: 'FactorsReset'; by: UserId };

export type FactorCommand =
  | { type: 'EnrolTotp'; secret: SecretId; step: number; recoveryCodes: readonly string[] }
  | { type: 'UseTotpCode'; step: number }
  | { type: 'TurnOffTotp' }
  | { type: 'RenewRecoveryCodes'; recoveryCodes: readonly string[] }
  | { type: 'UseRecoveryCode'; recoveryCode: string }
  | { type: 'AddPasskey'; passkey: string; added: Passkey }
  | { type: 'UsePasskey'; passkey: string; counter: number }
  | { type: 'RenamePasskey'; passkey: string; name: Sealed }
  | { type: 'RemovePasskey'; passkey: string }
  | { type: 'ResetFactors'; by: UserId };

export interface Factors {
  /** `lastStep`: no code of this step or before is taken any more. null: the second factor is off. */
  readonly totp: { readonly secret: SecretId; readonly lastStep: number } | null;
  /** Those not used yet. */
  readonly recoveryCodes: readonly string[];
  readonly passkeys: ReadonlyMap<string, Passkey>;
}

const initial: Factors = { totp: null, recoveryCodes: [], passkeys: new Map() };

const totpOf = ({ totp }: Factors): NonNullable<Factors['totp']> => {
  if (totp === null) throw new Failure('second-factor-off');
  return totp;
};

const passkeyOf = ({ passkeys }: Factors, name: string): Passkey => {
  const found = passkeys.get(name);
  if (found === undefined) throw new Failure('passkey-not-found');
  return found;
};

function decide(command: FactorCommand, factors: Factors): FactorEvent[] {
  switch (command.type) {
    case 'EnrolTotp': {
      if (factors.totp !== null) throw new Failure('second-factor-on');
      const { secret, step, recoveryCodes } = command;
      return [{ type: 'TotpEnrolled', secret, step, recoveryCodes }];
    }
    case 'UseTotpCode': {
      const { step } = command;
      if (step <= totpOf(factors).lastStep) throw new Failure('second-factor-wrong');
      return [{ type: 'TotpCodeUsed', step }];
    }
    case 'TurnOffTotp':
      return factors.totp === null ? [] : [{ type: 'TotpTurnedOff' }];
    case 'RenewRecoveryCodes':
      totpOf(factors);
      return [{ type: 'RecoveryCodesRenewed', recoveryCodes: command.recoveryCodes }];
    case 'UseRecoveryCode': {
      const { recoveryCode } = command;
      if (!factors.recoveryCodes.includes(recoveryCode)) throw new Failure('second-factor-wrong');
      return [{ type: 'RecoveryCodeUsed', recoveryCode }];
    }
    case 'AddPasskey': {
      const { passkey, added } = command;
      if (factors.passkeys.has(passkey)) return [];
      if (factors.passkeys.size >= maxPasskeys) throw new Failure('too-many-passkeys', { allowed: maxPasskeys });
      const { credential, name, publicKey, counter, transports } = added;
      return [{ type: 'PasskeyAdded', passkey, credential, name, publicKey, counter, transports }];
    }
    case 'UsePasskey': {
      const { passkey, counter } = command;
      const known = passkeyOf(factors, passkey);
      if (counter === 0 && known.counter === 0) return [];
      // Two authenticators have the same key: one of them is a copy.
      if (counter <= known.counter) throw new Failure('passkey-counter-behind');
      return [{ type: 'PasskeyUsed', passkey, counter }];
    }
    case 'RenamePasskey': {
      const { passkey, name } = command;
      passkeyOf(factors, passkey);
      return [{ type: 'PasskeyRenamed', passkey, name }];
    }
    case 'RemovePasskey': {
      const { passkey } = command;
      return factors.passkeys.has(passkey) ? [{ type: 'PasskeyRemoved', passkey }] : [];
    }
    case 'ResetFactors':
      return factors.totp === null && factors.passkeys.size === 0 ? [] : [{ type: 'FactorsReset', by: command.by }];
    default:
      return assertNever(command);
  }
}

function evolve(factors: Factors, event: FactorEvent): Factors {
  const { totp, recoveryCodes, passkeys } = factors;
  const withPasskey = (name: string, passkey: Passkey): Factors => ({
    ...factors,
    passkeys: new Map(passkeys).set(name, passkey),
  });
  const changed = (name: string, patch: Partial<Passkey>): Factors => {
    const known = passkeys.get(name);
    return known === undefined ? factors : withPasskey(name, { ...known, ...patch });
  };
  switch (event.type) {
    case 'TotpEnrolled':
      return {
        totp: { secret: event.secret, lastStep: event.step },
        recoveryCodes: event.recoveryCodes,
        passkeys,
      };
    case 'TotpCodeUsed':
      return { ...factors, totp: totp === null ? null : { ...totp, lastStep: event.step } };
    case 'TotpTurnedOff':
      return { totp: null, recoveryCodes: [], passkeys };
    case 'RecoveryCodesRenewed':
      return { ...factors, recoveryCodes: event.recoveryCodes };
    case 'RecoveryCodeUsed':
      return { ...factors, recoveryCodes: recoveryCodes.filter((code) => code !== event.recoveryCode) };
    case 'PasskeyAdded': {
      const { credential, name, publicKey, counter, transports } = event;
      return withPasskey(event.passkey, { credential, name, publicKey, counter, transports });
    }
    case 'PasskeyUsed':
      return changed(event.passkey, { counter: event.counter });
    case 'PasskeyRenamed':
      return changed(event.passkey, { name: event.name });
    case 'PasskeyRemoved': {
      const left = new Map(passkeys);
      left.delete(event.passkey);
      return { ...factors, passkeys: left };
    }
    case 'FactorsReset':
      return initial;
    default:
      return assertNever(event);
  }
}

export const factorsDecider: Decider<Factors, FactorCommand, FactorEvent> = { initial, decide, evolve };
