import type { UserId } from '../../domain/kernel/ids.js';
import type { UniqueClaim } from './claims.js';
import { nothingToRollBack } from './unique-claim.js';

/* A change that gives a user something unique in place of another: both claims follow what becomes of the change. */

export type SwappableClaim = Pick<UniqueClaim, 'claim' | 'prepareRelease'>;

/** What a change gives a user and what it takes; null: nothing that had to be claimed. */
export interface ClaimSwap {
  readonly wanted: SwappableClaim | null;
  readonly former: SwappableClaim | null;
}

/**
 * Claims what a change gives; releases what it takes, or rolls its own claim back if it fails. `change` awaits `prepare`
 * for every state that it is decided on: another order of the same user may have come in between, whose swap has
 * released what this one found claimed already. `swapFor` reads that state, or a newer one.
 */
export async function swapClaims<Result>(
  userId: UserId,
  swapFor: () => Promise<ClaimSwap>,
  change: (prepare: () => Promise<void>) => Promise<Result>,
): Promise<Result> {
  let rollBack = nothingToRollBack;
  let releaseFormer = nothingToRollBack;
  const prepare = async (): Promise<void> => {
    const { wanted, former } = await swapFor();
    releaseFormer = (await former?.prepareRelease(userId)) ?? nothingToRollBack;
    rollBack = (await wanted?.claim(userId)) ?? rollBack;
  };
  let result: Result;
  try {
    result = await change(prepare);
  } catch (error) {
    // Where this fails too, the claim is left unused, and the next who wants it takes it over.
    await rollBack().catch(() => {});
    throw error;
  }
  await releaseFormer();
  return result;
}
