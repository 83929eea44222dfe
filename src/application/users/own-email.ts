import type { Position } from '../../domain/events/events.js';
import { checkEmail, checkMailedCode } from '../../domain/user/email.js';
import type { Actor } from '../../domain/user/user.js';
import { noStepUp, type SessionProof } from '../session-proof.js';
import type { Bindings } from '../sign-in/bindings.js';
import type { StepUps } from '../sign-in/step-up.js';
import type { EmailCodes } from './email-codes.js';

/* The address of one's own account: whoever has been sent a code there may put it in place of the former one. */

interface OwnEmailPorts {
  readonly codes: Pick<EmailCodes, 'redeem'>;
  readonly bindings: Pick<Bindings, 'changeEmail'>;
  readonly stepUps: Pick<StepUps, 'demand'>;
}

export const ownEmail = ({ codes, bindings, stepUps }: OwnEmailPorts) => ({
  /** Throws what is wrong with the address, `step-up-needed`, `email-code-wrong` or `email-taken`. */
  async change(viewer: Actor, email: string, code: string, sessionProof: SessionProof = noStepUp): Promise<Position> {
    const address = email.trim();
    checkEmail(address);
    checkMailedCode('code', code);
    return stepUps.demand(viewer, 'email', sessionProof, async () => {
      await codes.redeem(address, code);
      return bindings.changeEmail(viewer.id, address);
    });
  },

  /** Throws `step-up-needed`. */
  async remove(viewer: Actor, sessionProof: SessionProof = noStepUp): Promise<Position> {
    return stepUps.demand(viewer, 'email', sessionProof, () => bindings.changeEmail(viewer.id, null));
  },
});
