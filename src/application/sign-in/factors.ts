import { type Position, streams } from '../../domain/events/events.js';
import { checkText } from '../../domain/kernel/bounds.js';
import { passkeyDecider } from '../../domain/kernel/claim.js';
import { Failure, invalidField } from '../../domain/kernel/failure.js';
import type { UserId } from '../../domain/kernel/ids.js';
import {
  checkAnswer,
  checkCode,
  checkPasskeyId,
  type FactorCommand,
  type FactorEvent,
  type Factors,
  factorsDecider,
  passkeyName,
  recoveryCodeCount,
} from '../../domain/user/second-factor.js';
import { type Actor, userDecider } from '../../domain/user/user.js';
import { nothingShown, type SessionProof } from '../asking.js';
import { authorise } from '../authorise.js';
import type { Handle } from '../handle.js';
import type { FactorSource, OneTimeCodes, Site } from '../ports/proof-ports.js';
import type { Directory, PersonalData, Sessions, Tickets, Vault } from '../ports/storage-ports.js';
import { randomText } from '../random-text.js';
import type { PasskeyCeremonies } from './passkeys.js';
import type { PasskeysOf } from './passkeys-of.js';
import type { SecondFactor } from './second-factor.js';
import type { StepUps } from './step-up.js';

/* Setting up by what one proves who one is, and taking it back. */

interface FactorCommandPorts {
  readonly handle: Handle;
  readonly vault: Pick<Vault, 'put'>;
  readonly personal: Pick<PersonalData, 'seal'>;
  readonly tickets: Tickets;
  readonly sessions: Pick<Sessions, 'closeOlder'>;
  readonly directory: Pick<Directory, 'settings' | 'user'>;
  readonly passkeysOf: PasskeysOf;
  readonly factors: FactorSource;
  readonly codes: OneTimeCodes;
  readonly passkeys: PasskeyCeremonies;
  readonly secondFactor: SecondFactor;
  readonly stepUps: StepUps;
}

const enrolment = { lifetimeMs: 10 * 60_000, tries: 5 };

/** Ten characters, about fifty bits: nobody finds one by trying. */
const newRecoveryCode = (): string => {
  const text = randomText(10).toLowerCase();
  return `${text.slice(0, 5)}-${text.slice(5)}`;
};

const newRecoveryCodes = (): string[] => Array.from({ length: recoveryCodeCount }, newRecoveryCode);

export function factorCommands(ports: FactorCommandPorts) {
  const {
    handle,
    vault,
    personal,
    tickets,
    sessions,
    directory,
    passkeysOf,
    factors,
    codes,
    passkeys,
    secondFactor,
    stepUps,
  } = ports;

  const run = async (id: UserId, command: FactorCommand): Promise<Position> =>
    (await handle(factorsDecider, streams.factors(id), command)).position;

  const hashesOf = (id: UserId, recoveryCodes: readonly string[]): string[] =>
    recoveryCodes.map((code) => secondFactor.recoveryHash(id, code));

  const aboutNew = ({ id }: Actor, { session }: SessionProof): string => `new passkey ${id} ${session}`;

  const checkName = (name: string): string => {
    const trimmed = name.trim();
    if (trimmed === '') throw invalidField('name', 'some characters');
    checkText('name', trimmed, passkeyName);
    return trimmed;
  };

  return {
    /**
     * A secret for an authenticator app, as text and as the address in its QR code. It is worth something once a code of
     * it has been brought, within ten minutes and by the same session. Throws `step-up-needed`.
     */
    async beginTotp(actor: Actor, asking: SessionProof): Promise<{ secret: string; address: string }> {
      const { session } = asking;
      if ((await factors.of(actor.id)).factors.totp !== null) throw new Failure('second-factor-on');
      return stepUps.demand(actor, 'second-factor', asking, async () => {
        const user = await directory.user(actor.id);
        if (user === null) throw new Failure('user-not-found');
        const secret = codes.newSecret();
        await tickets.issue('totp-enrolment', String(actor.id), { code: session, content: secret, ...enrolment });
        const issuer = directory.settings().text('SystemName');
        return { secret, address: codes.address({ secret, issuer, account: user.username }) };
      });
    },

    /**
     * Turns the second factor on. The recovery codes are told this once. `place`: where the client is. Throws
     * `enrolment-over`, `second-factor-wrong`, `too-many-attempts`.
     */
    async enrolTotp(
      { id }: Actor,
      { session }: SessionProof,
      code: string,
      place: string,
    ): Promise<{ recoveryCodes: readonly string[]; position: Position }> {
      checkCode('code', code);
      const secret = await tickets.check('totp-enrolment', String(id), session);
      if (secret === null) throw new Failure('enrolment-over');
      const step = await secondFactor.stepProven(id, place, secret, code).catch(async (error: unknown) => {
        const isWrong = error instanceof Failure && error.code === 'second-factor-wrong';
        if (isWrong) await tickets.check('totp-enrolment', String(id), '');
        throw error;
      });
      if ((await tickets.redeem('totp-enrolment', String(id), session)) === null) throw new Failure('enrolment-over');
      const recoveryCodes = newRecoveryCodes();
      const position = await run(id, {
        type: 'EnrolTotp',
        secret: await vault.put(secret),
        step,
        recoveryCodes: hashesOf(id, recoveryCodes),
      });
      return { recoveryCodes, position };
    },

    async turnOffTotp(actor: Actor, asking: SessionProof): Promise<Position> {
      return stepUps.demand(actor, 'second-factor', asking, () => run(actor.id, { type: 'TurnOffTotp' }));
    },

    /** New recovery codes in place of all there are; told this once. */
    async renewRecoveryCodes(
      actor: Actor,
      asking: SessionProof,
    ): Promise<{ recoveryCodes: readonly string[]; position: Position }> {
      return stepUps.demand(actor, 'second-factor', asking, async () => {
        const recoveryCodes = newRecoveryCodes();
        const renewed = hashesOf(actor.id, recoveryCodes);
        const position = await run(actor.id, { type: 'RenewRecoveryCodes', recoveryCodes: renewed });
        return { recoveryCodes, position };
      });
    },

    /** A question to an authenticator that is to make a passkey, as JSON for the browser. */
    async beginPasskey(actor: Actor, asking: SessionProof, site: Site): Promise<string> {
      return stepUps.demand(actor, 'passkeys', asking, async () => {
        const user = await directory.user(actor.id);
        if (user === null) throw new Failure('user-not-found');
        return passkeys.askForNew(aboutNew(actor, asking), { id: user.id, name: user.username }, site);
      });
    },

    /** `response`: the browser's answer to it, as JSON. Throws `passkey-refused`, `passkey-taken`, `too-many-passkeys`. */
    async addPasskey(
      actor: Actor,
      asking: SessionProof,
      { name, response }: { readonly name: string; readonly response: string },
    ): Promise<Position> {
      const { id } = actor;
      const shown = checkName(name);
      checkAnswer('response', response);
      const { passkey, credential, ...made } = await passkeys.answeredNew(aboutNew(actor, asking), response);
      // Before it is anybody's: a claim that is left behind by a crash is of a passkey that opens nothing.
      await handle(passkeyDecider, streams.passkey(passkey), { type: 'Claim', userId: id });
      const added = { ...made, credential: await personal.seal(id, credential), name: await personal.seal(id, shown) };
      return run(id, { type: 'AddPasskey', passkey, added });
    },

    async renamePasskey({ id }: Actor, passkey: string, name: string): Promise<Position> {
      checkPasskeyId('id', passkey);
      return run(id, { type: 'RenamePasskey', passkey, name: await personal.seal(id, checkName(name)) });
    },

    /**
     * Throws `last-door` where there would be no way to sign in any more. The other ways in stand in the user's stream:
     * that the last passkey goes is written there first, so that an account elsewhere which is unbound at the same time
     * stays, or the passkey does.
     */
    async removePasskey(actor: Actor, passkey: string, asking: SessionProof): Promise<Position> {
      checkPasskeyId('id', passkey);
      const { id } = actor;
      const removing = async (): Promise<FactorCommand> => {
        const passkeys = await passkeysOf(id);
        if (passkeys.length === 1 && passkeys.includes(passkey))
          await handle(userDecider, streams.user(id), { type: 'GiveUpPasskey', passkey });
        return { type: 'RemovePasskey', passkey };
      };
      return stepUps.demand(actor, 'passkeys', asking, async () => {
        const removed = await handle<Factors, FactorCommand, FactorEvent>(
          factorsDecider,
          streams.factors(id),
          removing,
        );
        return removed.position;
      });
    },

    /** For a user who has lost all of it; ends all their sign-ins. */
    async reset(actor: Actor, id: UserId, asking: SessionProof = nothingShown): Promise<Position> {
      authorise(actor, 'root');
      if ((await directory.user(id)) === null) throw new Failure('user-not-found');
      const reset = async (): Promise<Position> => {
        const position = await run(id, { type: 'ResetFactors', by: actor.id });
        await sessions.closeOlder(id, position);
        return position;
      };
      return id === actor.id ? stepUps.demand(actor, 'second-factor', asking, reset) : reset();
    },
  };
}
