import type { Position } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { checkCode, recoveryCodeCount } from '../../domain/user/second-factor.js';
import type { Actor } from '../../domain/user/user.js';
import { randomText } from '../random-text.js';
import type { SessionProof } from '../session-proof.js';
import { type FactorCommandPorts, knownUser, runFactorCommand } from './factor-command-ports.js';

/* The authenticator app of a user, and the recovery codes beside it. */

const enrolment = { lifetimeMs: 10 * 60_000, tries: 5 };

/** Ten characters, about fifty bits: nobody finds one by trying. */
const newRecoveryCode = (): string => {
  const text = randomText(10).toLowerCase();
  return `${text.slice(0, 5)}-${text.slice(5)}`;
};

const newRecoveryCodes = (): string[] => Array.from({ length: recoveryCodeCount }, newRecoveryCode);

const hashesOf = (
  { secondFactor }: Pick<FactorCommandPorts, 'secondFactor'>,
  id: UserId,
  recoveryCodes: readonly string[],
): string[] => recoveryCodes.map((code) => secondFactor.recoveryHash(id, code));

/** Shown once, and never again. */
interface NewRecoveryCodes {
  readonly recoveryCodes: readonly string[];
  readonly position: Position;
}

/**
 * A secret for an authenticator app, as text and as the address in its QR code. It is worth something once a code of
 * it has been brought, within ten minutes and by the same session. Throws `second-factor-on`, `step-up-needed`.
 */
export async function beginTotp(
  ports: FactorCommandPorts,
  actor: Actor,
  sessionProof: SessionProof,
): Promise<{ secret: string; address: string }> {
  const { factors, codes, tickets, directory, stepUps } = ports;
  if ((await factors.of(actor.id)).factors.totp !== null) throw new Failure('second-factor-on');
  return stepUps.demand(actor, 'second-factor', sessionProof, async () => {
    const user = await knownUser(ports, actor.id);
    const secret = codes.newSecret();
    await tickets.issue('totp-enrolment', String(actor.id), {
      code: sessionProof.session,
      content: secret,
      ...enrolment,
    });
    const issuer = directory.settings().text('SystemName');
    return { secret, address: codes.address({ secret, issuer, account: user.username }) };
  });
}

/**
 * Turns the second factor on. `network`: the client's. Throws `enrolment-over`, `second-factor-wrong`,
 * `too-many-attempts`.
 */
export async function enrolTotp(
  ports: FactorCommandPorts,
  actor: Actor,
  { session }: SessionProof,
  { code, network }: { readonly code: string; readonly network: string },
): Promise<NewRecoveryCodes> {
  const { id } = actor;
  const { tickets, secondFactor, vault } = ports;
  checkCode('code', code);
  const secret = await tickets.check('totp-enrolment', String(id), session);
  if (secret === null) throw new Failure('enrolment-over');
  const step = await secondFactor.stepProven({ user: id, network, secret, code }).catch(async (error: unknown) => {
    const isWrong = error instanceof Failure && error.code === 'second-factor-wrong';
    if (isWrong) await tickets.check('totp-enrolment', String(id), '');
    throw error;
  });
  if ((await tickets.redeem('totp-enrolment', String(id), session)) === null) throw new Failure('enrolment-over');
  const recoveryCodes = newRecoveryCodes();
  const enrolling = {
    type: 'EnrolTotp',
    secret: await vault.put(secret),
    step,
    recoveryCodes: hashesOf(ports, id, recoveryCodes),
  } as const;
  const position = await runFactorCommand(ports, id, enrolling, actor);
  return { recoveryCodes, position };
}

export async function turnOffTotp(
  ports: FactorCommandPorts,
  actor: Actor,
  sessionProof: SessionProof,
): Promise<Position> {
  return ports.stepUps.demand(actor, 'second-factor', sessionProof, () =>
    runFactorCommand(ports, actor.id, { type: 'TurnOffTotp' }, actor),
  );
}

/** New recovery codes in place of all there are. */
export async function renewRecoveryCodes(
  ports: FactorCommandPorts,
  actor: Actor,
  sessionProof: SessionProof,
): Promise<NewRecoveryCodes> {
  return ports.stepUps.demand(actor, 'second-factor', sessionProof, async () => {
    const recoveryCodes = newRecoveryCodes();
    const renewed = hashesOf(ports, actor.id, recoveryCodes);
    const command = { type: 'RenewRecoveryCodes', recoveryCodes: renewed } as const;
    return { recoveryCodes, position: await runFactorCommand(ports, actor.id, command, actor) };
  });
}
