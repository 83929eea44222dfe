import type { StepUpPurpose } from '../../generated/kit/proof/proof.js';
import { failureCode } from '../words/errors.js';

/** Proofs whose order was refused: the server takes them for the next order of that purpose, while they last. */
export type KeptProofs = Map<StepUpPurpose, string>;

const isNeeded = (error: unknown): boolean => failureCode(error) === 'step-up-needed';

/**
 * Gives an order: with the proof that is kept for it, or none, and where that is not enough with what `ask` answers.
 * Resolves with its result; null where `ask` answers null. Throws what the order throws.
 */
export async function orderWithProof<Result>(
  kept: KeptProofs,
  purpose: StepUpPurpose,
  order: (stepUp: string | null) => Promise<Result>,
  ask: () => Promise<string | null>,
): Promise<Result | null> {
  const give = async (proof: string | null): Promise<Result> => {
    kept.delete(purpose);
    try {
      return await order(proof);
    } catch (error) {
      if (proof !== null && !isNeeded(error)) kept.set(purpose, proof);
      throw error;
    }
  };
  try {
    return await give(kept.get(purpose) ?? null);
  } catch (error) {
    if (!isNeeded(error)) throw error;
  }
  const proven = await ask();
  return proven === null ? null : give(proven);
}
