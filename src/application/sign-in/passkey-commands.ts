import { type Position, streams } from '../../domain/events/events.js';
import { checkText } from '../../domain/kernel/bounds.js';
import { passkeyDecider } from '../../domain/kernel/claim.js';
import { invalidField } from '../../domain/kernel/failure.js';
import {
  checkAnswer,
  checkPasskeyId,
  type FactorCommand,
  type FactorEvent,
  type Factors,
  factorsDecider,
  passkeyName,
} from '../../domain/user/second-factor.js';
import { type Actor, userDecider } from '../../domain/user/user.js';
import type { Site } from '../ports/proof-ports.js';
import type { SessionProof } from '../session-proof.js';
import { type FactorCommandPorts, knownUser, runFactorCommand } from './factor-command-ports.js';

/* A user's own passkeys: added, renamed, removed. */

const aboutNew = ({ id }: Actor, { session }: SessionProof): string => `new passkey ${id} ${session}`;

function checkName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '') throw invalidField('name', 'a name that is not blank');
  checkText('name', trimmed, passkeyName);
  return trimmed;
}

/** A challenge for an authenticator that is to make a passkey, as JSON for the browser. Throws `step-up-needed`. */
export async function beginPasskey(
  ports: FactorCommandPorts,
  actor: Actor,
  sessionProof: SessionProof,
  site: Site,
): Promise<string> {
  return ports.stepUps.demand(actor, 'passkeys', sessionProof, async () => {
    const { id, username } = await knownUser(ports, actor.id);
    return ports.passkeys.registrationOptions(aboutNew(actor, sessionProof), { id, name: username }, site);
  });
}

/** `response`: the browser's answer to it, as JSON. Throws `passkey-refused`, `passkey-taken`, `too-many-passkeys`. */
export async function addPasskey(
  ports: FactorCommandPorts,
  actor: Actor,
  sessionProof: SessionProof,
  { name, response }: { readonly name: string; readonly response: string },
): Promise<Position> {
  const { id } = actor;
  const { handle, passkeys, personal } = ports;
  const shown = checkName(name);
  checkAnswer('response', response);
  const { passkey, credential, ...made } = await passkeys.verifyRegistration(aboutNew(actor, sessionProof), response);
  // Before it is anybody's: a claim that is left behind by a crash is of a passkey that opens nothing.
  await handle(passkeyDecider, streams.passkey(passkey), { type: 'Claim', userId: id });
  const added = { ...made, credential: await personal.seal(id, credential), name: await personal.seal(id, shown) };
  return runFactorCommand(ports, id, { type: 'AddPasskey', passkey, added }, actor);
}

export async function renamePasskey(
  ports: FactorCommandPorts,
  { id }: Actor,
  passkey: string,
  name: string,
): Promise<Position> {
  checkPasskeyId('id', passkey);
  const sealed = await ports.personal.seal(id, checkName(name));
  return runFactorCommand(ports, id, { type: 'RenamePasskey', passkey, name: sealed });
}

/**
 * Throws `last-door` where there would be no way to sign in any more. That the last passkey goes is first written to the
 * user's own stream, where identity providers are bound: of two removals at once, one is refused.
 */
export async function removePasskey(
  ports: FactorCommandPorts,
  actor: Actor,
  passkey: string,
  sessionProof: SessionProof,
): Promise<Position> {
  checkPasskeyId('id', passkey);
  const { id } = actor;
  const { handle, passkeysOf, stepUps } = ports;
  const removing = async (): Promise<FactorCommand> => {
    const passkeys = await passkeysOf(id);
    if (passkeys.length === 1 && passkeys.includes(passkey))
      await handle(userDecider, streams.user(id), { type: 'GiveUpPasskey', passkey });
    return { type: 'RemovePasskey', passkey };
  };
  return stepUps.demand(actor, 'passkeys', sessionProof, async () => {
    const stream = streams.factors(id);
    const removed = await handle.by(actor)<Factors, FactorCommand, FactorEvent>(factorsDecider, stream, removing);
    return removed.position;
  });
}
