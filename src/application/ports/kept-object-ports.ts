import type { KeptOwner } from '../../domain/call/kept-object.js';
import type { UserId } from '../../domain/kernel/ids.js';

/** Whose it is what providers keep. */
export interface KeptObjects {
  /**
   * Of these ids those that are the user's and not too old. Throws Failure `store-unavailable` where one is not known
   * and the read model is still being built.
   */
  ownedBy(user: UserId, ids: readonly string[]): Promise<ReadonlyMap<string, KeptOwner>>;
}
