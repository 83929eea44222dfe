import { checkText, type TextBound } from '../../domain/kernel/bounds.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { HumanVerifier } from '../ports/outbound-ports.js';
import type { Tickets } from '../ports/storage-ports.js';

/*
 * CAPTCHA before sign-in and registration, where the operator has switched it on. A browser that has passed is not asked
 * again for a day, or until it signs out.
 */

interface HumanCheckPorts {
  readonly tickets: Tickets;
  readonly verifier: HumanVerifier;
  /** The check is switched on, and can be made. */
  readonly isOn: () => boolean;
}

/** A browser that is to be checked. */
export interface Visitor {
  /** By which the browser is known again; null: it is not yet. */
  readonly known: string | null;
  /** Its address, as far as it can be known. */
  readonly address: string;
  /** Has the browser keep this, to be known by. */
  remember(): string;
}

const passMs = 24 * 60 * 60_000;
/** Longer than any that is given out. */
const answerText: TextBound = { max: 2048 };

export function humanChecks({ tickets, verifier, isOn }: HumanCheckPorts) {
  const hasPassed = async (visitor: string | null): Promise<boolean> =>
    visitor !== null && (await tickets.check('human-check', visitor, visitor)) !== null;

  return {
    /**
     * `answer`: what the widget on the page has given; '' for none. Throws `human-check-missing`, `human-check-failed`, or
     * `human-check-unavailable` where the verifier did not answer.
     */
    async demand(visitor: Visitor, answer: string): Promise<void> {
      checkText('humanCheck', answer, answerText);
      if (!isOn() || (await hasPassed(visitor.known))) return;
      if (answer === '') throw new Failure('human-check-missing');
      const verdict = await verifier.verify(answer, visitor.address);
      if (verdict === 'unavailable') throw new Failure('human-check-unavailable');
      if (verdict === 'refused') throw new Failure('human-check-failed');
      // Never a value the browser came with: whoever planted it there would have passed as well.
      const name = visitor.remember();
      await tickets.issue('human-check', name, { code: name, content: '', lifetimeMs: passMs, tries: 1 });
    },

    /** The browser is asked again. */
    async forget(visitor: string | null): Promise<void> {
      if (visitor !== null) await tickets.drop('human-check', visitor);
    },
  };
}

export type HumanChecks = ReturnType<typeof humanChecks>;
