import { randomBytes, randomInt } from 'node:crypto';
import { streams } from '../../domain/events/events.js';
import { Failure, isUnavailable } from '../../domain/kernel/failure.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { defaultLanguage } from '../../domain/kernel/language.js';
import { checkCode } from '../../domain/user/second-factor.js';
import { checkTyped, normalEmail } from '../../domain/user/user-fields.js';
import type { SessionProof, StepUpMethod, StepUpPurpose } from '../asking.js';
import { stepUpMail } from '../notifications/mail-texts.js';
import { addressAfter } from '../options/own-address.js';
import type { Mailer } from '../ports/outbound-ports.js';
import type { FactorSource, Site } from '../ports/proof-ports.js';
import type {
  Clock,
  Directory,
  EventStore,
  PersonalData,
  Sessions,
  Tickets,
  UserCredentials,
} from '../ports/storage-ports.js';
import type { MailRequester } from '../users/email-codes.js';
import { codeLifetimeMs, codeMinutes, codeTries } from '../users/mail-codes.js';
import type { MailLimits } from '../users/mail-limits.js';
import type { PasswordChecks } from './password-checks.js';
import type { FactorProof, ProofContext, SecondFactor } from './second-factor.js';

/*
 * What a stolen session must not do: who gives such an order proves anew who they are, by the strongest that they have.
 * What was proven is a ticket for one purpose of one user in one session, worth one order that is accepted; it is made by
 * a proof and by nothing else.
 */

interface StepUpPorts {
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

export type StepUpProof =
  | FactorProof
  | { readonly kind: 'password'; readonly password: string }
  | { readonly kind: 'mail-code'; readonly code: string };

const lifetimeMs = 5 * 60_000;
/** Wrong tickets after which the right one is worth nothing. */
const tries = 5;
/** Orders that may be refused before the ticket is spent: whoever mistypes a code may type it again. */
const refusalsBorne = 5;
/** For whoever can be asked for nothing: how long ago the session may have been opened. */
const recentMs = 10 * 60_000;

/** What a ticket holds: until when it lasts, in ms since 1970, and how many more of its orders may be refused. */
interface Kept {
  readonly until: number;
  readonly refusals: number;
}

const newCode = (): string => String(randomInt(100_000_000)).padStart(8, '0');

export function stepUps(ports: StepUpPorts) {
  const { tickets, secondFactor, factors, directory, sessions, passwordChecks, store, personal, clock } = ports;

  const boundTo = (user: UserId, session: string, purpose: StepUpPurpose): string =>
    JSON.stringify([user, session, purpose]);

  const context = (user: UserId, session: string, purpose: StepUpPurpose): ProofContext => ({
    user,
    about: `step up ${boundTo(user, session, purpose)}`,
    verified: true,
  });

  const credentialsOf = async (id: UserId): Promise<UserCredentials> => {
    const found = await directory.credentials(id);
    if (found === null) throw new Failure('user-not-found');
    return found;
  };

  /** The user's address; null: none, or no mail can be sent. */
  const reachedAt = async (id: UserId): Promise<string | null> => {
    if (directory.settings().mail === null) return null;
    const shown = addressAfter(await store.readStream(streams.user(id)));
    return shown === null ? null : personal.open(id, shown);
  };

  const waysOf = async (id: UserId): Promise<readonly StepUpMethod[]> => {
    const ways = await secondFactor.ways(id);
    if (ways.length > 0) return ways;
    const passkey = (await factors.of(id)).factors.passkeys.size > 0 ? (['passkey'] as const) : [];
    if ((await credentialsOf(id)).passwordSecret !== null) return ['password', ...passkey];
    return (await reachedAt(id)) === null ? passkey : ['mail-code', ...passkey];
  };

  const isRecent = async (id: UserId, session: string): Promise<boolean> => {
    const { endedAt } = await credentialsOf(id);
    const found = (await sessions.openOf(id, endedAt)).find((open) => open.id === session);
    const ageMs = found === undefined ? -1 : clock.now() - found.openedAt;
    // One from the future, after the clock was set back, is no new one for a day.
    return ageMs >= 0 && ageMs <= recentMs;
  };

  const proved = async (
    id: UserId,
    session: string,
    purpose: StepUpPurpose,
    proof: StepUpProof,
    place: string,
  ): Promise<void> => {
    if (proof.kind === 'password') {
      checkTyped('password', proof.password);
      return passwordChecks.prove(await credentialsOf(id), proof.password, place);
    }
    if (proof.kind === 'mail-code') {
      checkCode('code', proof.code);
      const redeemed = await tickets.redeem('step-up-code', boundTo(id, session, purpose), proof.code.trim());
      if (redeemed === null) throw new Failure('email-code-wrong');
      return;
    }
    return secondFactor.prove(context(id, session, purpose), proof, place);
  };

  const issued = (step: 'issue' | 'restore', name: string, code: string, kept: Kept): Promise<void> => {
    const lifetimeLeftMs = kept.until - clock.now();
    return tickets[step]('step-up', name, { code, content: JSON.stringify(kept), lifetimeMs: lifetimeLeftMs, tries });
  };

  /** The order is refused: its ticket is good for another one, for as long as it would have been. */
  const givenBack = async (name: string, code: string, content: string): Promise<void> => {
    const { until, refusals } = JSON.parse(content) as Kept;
    if (refusals > 0 && until > clock.now()) await issued('restore', name, code, { until, refusals: refusals - 1 });
  };

  return {
    /** By what the user is asked for a proof; none: the session must be a new one. */
    ways: ({ id }: { id: UserId }): Promise<readonly StepUpMethod[]> => waysOf(id),

    /** A question to the user's passkeys, as JSON for the browser. */
    async ask({ id }: { id: UserId }, session: string, purpose: StepUpPurpose, site: Site): Promise<string> {
      return secondFactor.ask(context(id, session, purpose), site);
    },

    /**
     * Mails a code to whoever has no password. Throws `proof-not-fit` where another proof is asked for,
     * `too-many-attempts`, `mail-failed`.
     */
    async sendCode(
      { id }: { id: UserId },
      session: string,
      purpose: StepUpPurpose,
      { place, language }: MailRequester,
    ): Promise<void> {
      const methods = await waysOf(id);
      const address = methods.includes('mail-code') ? await reachedAt(id) : null;
      if (address === null) throw new Failure('proof-not-fit', { allowed: methods.join(', ') });
      const counted = ports.limits.begin(ports.hash(`mail ${normalEmail(address)}`), place);
      const [name, code] = [boundTo(id, session, purpose), newCode()];
      await tickets.issue('step-up-code', name, { code, content: '', lifetimeMs: codeLifetimeMs, tries: codeTries });
      try {
        const spoken = language ?? (await sessions.languageOf(id)) ?? defaultLanguage;
        const systemName = directory.settings().text('SystemName');
        await ports.mailer.send(stepUpMail(address, systemName, code, codeMinutes, spoken));
      } catch (error) {
        counted.withdrawn();
        await tickets.drop('step-up-code', name);
        throw error;
      }
    },

    /**
     * The ticket. `place`: where the client is. Throws as the proof does; `second-factor-off`, or `proof-not-fit` where
     * the user is asked for another proof.
     */
    async prove(
      { id }: { id: UserId },
      session: string,
      purpose: StepUpPurpose,
      proof: StepUpProof,
      place: string,
    ): Promise<string> {
      const methods = await waysOf(id);
      const isCode = proof.kind === 'totp' || proof.kind === 'recovery-code';
      if (isCode && !methods.includes('totp')) throw new Failure('second-factor-off');
      if (!isCode && !methods.includes(proof.kind)) throw new Failure('proof-not-fit', { allowed: methods.join(', ') });
      await proved(id, session, purpose, proof, place);
      const code = randomBytes(32).toString('base64url');
      const kept = { until: clock.now() + lifetimeMs, refusals: refusalsBorne };
      await issued('issue', boundTo(id, session, purpose), code, kept);
      return code;
    },

    /**
     * Carries out the order of a user who has just proven who they are for it. The proof is redeemed first, so that of two
     * orders at once one has it, and given back where the order is refused; what may have happened keeps it spent.
     * Throws `step-up-needed`; `sign-in-again-needed` where there is nothing to ask for and the session is no new one.
     */
    async demand<Result>(
      { id }: { id: UserId },
      purpose: StepUpPurpose,
      { session, stepUp }: SessionProof,
      order: () => Promise<Result>,
    ): Promise<Result> {
      const name = boundTo(id, session, purpose);
      const shown = stepUp === null ? null : await tickets.redeem('step-up', name, stepUp);
      if (stepUp === null || shown === null) {
        if ((await waysOf(id)).length > 0) throw new Failure('step-up-needed', { purpose });
        if (!(await isRecent(id, session))) throw new Failure('sign-in-again-needed', { purpose });
        return order();
      }
      try {
        return await order();
      } catch (error) {
        // Where it cannot be given back either, it has to be proven again.
        if (error instanceof Failure && !isUnavailable(error)) await givenBack(name, stepUp, shown).catch(() => {});
        throw error;
      }
    },
  };
}

export type StepUps = ReturnType<typeof stepUps>;
