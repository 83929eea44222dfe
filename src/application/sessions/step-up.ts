import { randomBytes } from 'node:crypto';
import { Failure } from '../../domain/failure.js';
import type { UserId } from '../../domain/ids.js';
import type { Asking, StepUpPurpose } from '../asking.js';
import type { Tickets } from '../ports.js';
import type { Site } from '../proof-ports.js';
import type { FactorProof, ProofContext, SecondFactor } from './second-factor.js';

/*
 * What a stolen session must not do: with a second factor on, it is asked for again. What was proven is a ticket for one
 * purpose of one user in one session, worth one order; it is made by a proof and by nothing else.
 */

export interface StepUpPorts {
  readonly tickets: Tickets;
  readonly secondFactor: SecondFactor;
}

const lifetimeMs = 5 * 60_000;
/** Wrong tickets after which the right one is worth nothing. */
const tries = 5;

export function stepUps({ tickets, secondFactor }: StepUpPorts) {
  const boundTo = (user: UserId, session: string, purpose: StepUpPurpose): string =>
    JSON.stringify([user, session, purpose]);

  const context = (user: UserId, session: string, purpose: StepUpPurpose): ProofContext => ({
    user,
    about: `step up ${boundTo(user, session, purpose)}`,
    verified: true,
  });

  return {
    /** A question to the user's passkeys, as JSON for the browser. */
    async ask({ id }: { id: UserId }, session: string, purpose: StepUpPurpose, site: Site): Promise<string> {
      if ((await secondFactor.ways(id)).length === 0) throw new Failure('second-factor-off');
      return secondFactor.ask(context(id, session, purpose), site);
    },

    /** The ticket. `place`: where the client is. Throws as the proof does; `second-factor-off` where nothing is asked. */
    async prove(
      { id }: { id: UserId },
      session: string,
      purpose: StepUpPurpose,
      proof: FactorProof,
      place: string,
    ): Promise<string> {
      if ((await secondFactor.ways(id)).length === 0) throw new Failure('second-factor-off');
      await secondFactor.prove(context(id, session, purpose), proof, place);
      const code = randomBytes(32).toString('base64url');
      await tickets.issue('step-up', boundTo(id, session, purpose), { code, content: '', lifetimeMs, tries });
      return code;
    },

    /** Throws `step-up-needed` unless the user has no second factor, or has just proven it for this. */
    async demand({ id }: { id: UserId }, purpose: StepUpPurpose, { session, stepUp }: Asking): Promise<void> {
      if ((await secondFactor.ways(id)).length === 0) return;
      const proven = stepUp === null ? null : await tickets.redeem('step-up', boundTo(id, session, purpose), stepUp);
      if (proven === null) throw new Failure('step-up-needed', { purpose });
    },
  };
}

export type StepUps = ReturnType<typeof stepUps>;
