import type { Actor } from '../domain/user/user.js';
import { authorise } from './authorise.js';

/* Trusted proxies that pass on what their clients wrote, for root, who can mend them. */

export interface DoubtedProxy {
  /** Its address. */
  readonly proxy: string;
  /** It does not write `X-Forwarded-For`, or writes something that does not end with an address. */
  readonly doubt: 'no-header' | 'no-address';
  /** When it was last seen to do so, to the minute; in ms since 1970. */
  readonly seenAt: number;
}

/** What the node has seen of them. */
export interface SeenProxies {
  recent(): readonly DoubtedProxy[];
}

export const doubtedProxies =
  ({ proxies }: { readonly proxies: SeenProxies }) =>
  (actor: Actor): readonly DoubtedProxy[] => {
    authorise(actor, 'root');
    return proxies.recent();
  };
