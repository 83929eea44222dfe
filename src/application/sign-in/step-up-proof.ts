import { randomInt } from 'node:crypto';
import { streams } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { defaultLanguage } from '../../domain/kernel/language.js';
import { checkCode } from '../../domain/user/second-factor.js';
import { checkTyped, normalEmail } from '../../domain/user/user-fields.js';
import { stepUpMail } from '../notifications/mail-texts.js';
import { addressAfter } from '../options/own-address.js';
import type { Mailer } from '../ports/outbound-ports.js';
import type { FactorSource } from '../ports/proof-ports.js';
import type {
  Clock,
  Directory,
  EventStore,
  PersonalData,
  Sessions,
  Tickets,
  UserCredentials,
} from '../ports/storage-ports.js';
import type { StepUpMethod, StepUpPurpose } from '../session-proof.js';
import type { MailRequester } from '../users/email-codes.js';
import { codeLifetimeMs, codeMinutes, codeTries } from '../users/mail-codes.js';
import type { MailLimits } from '../users/mail-limits.js';
import type { PasswordChecks } from './password-checks.js';
import type { FactorProof, ProofContext, SecondFactor } from './second-factor.js';

/* What a user can step up with, and whether a proof is right. */

export interface StepUpPorts {
  readonly tickets: Tickets;
  readonly secondFactor: SecondFactor;
  readonly factors: FactorSource;
  readonly directory: Pick<Directory, 'credentials' | 'settings'>;
  readonly sessions: Pick<Sessions, 'openOf' | 'languageOf'>;
  readonly passwordChecks: Pick<PasswordChecks, 'prove'>;
  readonly store: Pick<EventStore, 'readStream'>;
  readonly personal: Pick<PersonalData, 'open'>;
  readonly mailer: Mailer;
  readonly limits: MailLimits;
  readonly hash: (text: string) => string;
  readonly clock: Clock;
}

/** What a proof is for: one purpose of one user in one session. */
export interface StepUpScope {
  readonly user: UserId;
  readonly session: string;
  readonly purpose: StepUpPurpose;
}

export type StepUpProof =
  | FactorProof
  | { readonly kind: 'password'; readonly password: string }
  | { readonly kind: 'mail-code'; readonly code: string };

/** The scope's name among tickets. */
export const scopeName = ({ user, session, purpose }: StepUpScope): string => JSON.stringify([user, session, purpose]);

export const proofContext = (scope: StepUpScope): ProofContext => ({
  user: scope.user,
  about: `step up ${scopeName(scope)}`,
  verified: true,
});

const newCode = (): string => String(randomInt(100_000_000)).padStart(8, '0');

/** Throws `user-not-found`. */
export async function credentialsOfUser(
  { directory }: Pick<StepUpPorts, 'directory'>,
  id: UserId,
): Promise<UserCredentials> {
  const found = await directory.credentials(id);
  if (found === null) throw new Failure('user-not-found');
  return found;
}

/** The user's address; null: none, or no mail can be sent. */
async function mailAddressOf({ directory, store, personal }: StepUpPorts, id: UserId): Promise<string | null> {
  if (directory.settings().mail === null) return null;
  const shown = addressAfter(await store.readStream(streams.user(id)));
  return shown === null ? null : personal.open(id, shown);
}

/** The strongest that the user has; none: the session must be a new one. */
export async function stepUpMethods(ports: StepUpPorts, id: UserId): Promise<readonly StepUpMethod[]> {
  const methods = await ports.secondFactor.methods(id);
  if (methods.length > 0) return methods;
  const passkey = (await ports.factors.of(id)).factors.passkeys.size > 0 ? (['passkey'] as const) : [];
  if ((await credentialsOfUser(ports, id)).passwordSecret !== null) return ['password', ...passkey];
  return (await mailAddressOf(ports, id)) === null ? passkey : ['mail-code', ...passkey];
}

/**
 * Mails a code to whoever has no password. Throws `proof-not-fit` where another proof is asked for,
 * `too-many-attempts`, `mail-failed`.
 */
export async function sendStepUpCode(
  ports: StepUpPorts,
  scope: StepUpScope,
  { network, language }: MailRequester,
): Promise<void> {
  const { user } = scope;
  const { limits, hash, tickets, sessions, directory, mailer } = ports;
  const methods = await stepUpMethods(ports, user);
  const to = methods.includes('mail-code') ? await mailAddressOf(ports, user) : null;
  if (to === null) throw new Failure('proof-not-fit', { allowed: methods.join(', ') });
  const counted = limits.begin(hash(`mail ${normalEmail(to)}`), network);
  const [name, code] = [scopeName(scope), newCode()];
  await tickets.issue('step-up-code', name, { code, content: '', lifetimeMs: codeLifetimeMs, tries: codeTries });
  try {
    const systemName = directory.settings().text('SystemName');
    const spoken = language ?? (await sessions.languageOf(user)) ?? defaultLanguage;
    await mailer.send(stepUpMail({ to, systemName, code, minutes: codeMinutes }, spoken));
  } catch (error) {
    counted.withdrawn();
    await tickets.drop('step-up-code', name);
    throw error;
  }
}

/** Throws where the proof is wrong, or not the one that the user is asked for. `network`: the client's network. */
export async function checkStepUpProof(
  ports: StepUpPorts,
  scope: StepUpScope,
  proof: StepUpProof,
  network: string,
): Promise<void> {
  const methods = await stepUpMethods(ports, scope.user);
  const isCode = proof.kind === 'totp' || proof.kind === 'recovery-code';
  if (isCode && !methods.includes('totp')) throw new Failure('second-factor-off');
  if (!isCode && !methods.includes(proof.kind)) throw new Failure('proof-not-fit', { allowed: methods.join(', ') });
  if (proof.kind === 'password') {
    checkTyped('password', proof.password);
    return ports.passwordChecks.prove(await credentialsOfUser(ports, scope.user), proof.password, network);
  }
  if (proof.kind === 'mail-code') {
    checkCode('code', proof.code);
    const redeemed = await ports.tickets.redeem('step-up-code', scopeName(scope), proof.code.trim());
    if (redeemed === null) throw new Failure('email-code-wrong');
    return;
  }
  return ports.secondFactor.prove(proofContext(scope), proof, network);
}
