import type { Position } from '../../domain/events/events.js';
import type { UserId } from '../../domain/kernel/ids.js';
import type { Actor } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import { noStepUp, type SessionProof } from '../session-proof.js';
import { type FactorCommandPorts, knownUser, runFactorCommand } from './factor-command-ports.js';
import { addPasskey, beginPasskey, removePasskey, renamePasskey } from './passkey-commands.js';
import { beginTotp, enrolTotp, renewRecoveryCodes, turnOffTotp } from './totp-enrolment.js';

/** For a user who has lost all factors; ends all their sign-ins. */
async function resetFactors(
  ports: FactorCommandPorts,
  actor: Actor,
  id: UserId,
  sessionProof: SessionProof = noStepUp,
): Promise<Position> {
  authorise(actor, 'root');
  await knownUser(ports, id);
  const reset = async (): Promise<Position> => {
    const position = await runFactorCommand(ports, id, { type: 'ResetFactors', by: actor.id }, actor);
    await ports.sessions.closeOlder(id, position);
    return position;
  };
  return id === actor.id ? ports.stepUps.demand(actor, 'second-factor', sessionProof, reset) : reset();
}

/** Setting up second factors and passkeys, and removing them. */
export const factorCommands = (ports: FactorCommandPorts) => ({
  beginTotp: beginTotp.bind(null, ports),
  enrolTotp: enrolTotp.bind(null, ports),
  turnOffTotp: turnOffTotp.bind(null, ports),
  renewRecoveryCodes: renewRecoveryCodes.bind(null, ports),
  beginPasskey: beginPasskey.bind(null, ports),
  addPasskey: addPasskey.bind(null, ports),
  renamePasskey: renamePasskey.bind(null, ports),
  removePasskey: removePasskey.bind(null, ports),
  reset: resetFactors.bind(null, ports),
});
